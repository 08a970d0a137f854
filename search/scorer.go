package search

import (
	"encoding/hex"

	"adshard/fault"
)

// ScorerID identifies the model of a scorer by its bytes; the zero value stands for none.
type ScorerID [16]byte

// String returns the id as answers have it, "" for none.
func (id ScorerID) String() string {
	if id == (ScorerID{}) {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// ErrNoScorer refuses a request that names a scorer which is not here.
func ErrNoScorer(op string, id ScorerID) error {
	return fault.Newf(fault.Version, op, "the request is to be scored by the model %v, which is not here: give this program the model's file", id)
}
