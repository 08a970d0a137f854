//go:build !unix

package sqlite

import "math"

// withoutWaiting is no flag: there are no named pipes among files.
const withoutWaiting = 0

// likeness does nothing: there are no owners and permissions to copy.
func likeness(_, _ string) error { return nil }

// room is not known here, so all of it is assumed: a write fails if there is none.
func room(_ string) (uint64, error) { return math.MaxUint64, nil }
