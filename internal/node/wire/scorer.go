package wire

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

const scorerBytes = len(search.ScorerID{})

// fromScorer returns the field for the id of a scorer, or nil if there is no scorer.
func fromScorer(id search.ScorerID) []byte {
	if id == (search.ScorerID{}) {
		return nil
	}
	return slices.Clone(id[:])
}

// appendScorer appends the field of a scorer.
func appendScorer(b []byte, number protowire.Number, id *search.ScorerID) []byte {
	if *id == (search.ScorerID{}) {
		return b
	}
	return appendBytes(b, number, id[:])
}

// toScorer reads the field of a scorer. Errors: fault.Invalid.
func toScorer(b []byte) (id search.ScorerID, err error) {
	if n := len(b); n != 0 && n != scorerBytes {
		return id, fault.Field("wire: scorer", "scorer", "has %d bytes, not %d", n, scorerBytes)
	}
	copy(id[:], b)
	return id, nil
}

// fromScored returns the message of what a scorer made of a keyword's quality.
func fromScored(s *search.Scored) *pb.Scored {
	if s == nil {
		return nil
	}
	m := &pb.Scored{Factor: uint32(s.Factor)}
	for _, p := range s.Parts {
		m.Parts = append(m.Parts, &pb.ScoredPart{Feature: p.Feature, Value: p.Value, Weight: p.Weight})
	}
	return m
}

// toScored reads a message made by fromScored.
func toScored(m *pb.Scored) *search.Scored {
	if m == nil {
		return nil
	}
	s := &search.Scored{Factor: uint64(m.GetFactor())}
	for _, p := range m.GetParts() {
		s.Parts = append(s.Parts, search.ScoredPart{Feature: p.GetFeature(), Value: p.GetValue(), Weight: p.GetWeight()})
	}
	return s
}
