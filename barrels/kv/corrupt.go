package kv

import (
	"errors"

	"adshard/fault"
)

// Causes for Damaged.
var (
	ErrWrongSize = errors.New("of a wrong size")
	ErrMissing   = errors.New("missing")
	ErrOrder     = errors.New("at the wrong place")
)

// Refill is the advice in errors about a store that cannot be used.
const Refill = "stop the slave, empty its directory and start it: it fills itself again (or put a store of `adshard barrels build` there)"

// Damaged returns the fault.Corrupt for a stored value that cannot be read. `what` names the kind
// of value.
func Damaged(what string, err error) error {
	return fault.Newf(fault.Corrupt, "barrels: read", "a damaged %s record: %w; %s", what, err, Refill)
}
