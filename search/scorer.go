package search

import (
	"encoding/hex"

	"adshard/fault"
)

// ScorerID identifies the model of a scorer by its bytes. The zero value means no scorer.
type ScorerID [16]byte

// String returns the id as answers show it, or "" for no scorer.
func (id ScorerID) String() string {
	if id == (ScorerID{}) {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// ErrNoScorer returns the error for a request that names a scorer this program does not have.
func ErrNoScorer(op string, id ScorerID) error {
	return fault.Newf(fault.Version, op, "the request is to be scored by the model %v, which is not here: give this program the model's file", id)
}
