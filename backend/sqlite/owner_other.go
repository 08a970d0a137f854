//go:build !unix

package sqlite

import "math"

// withoutWaiting sets no flags, since there are no named pipes among files here.
const withoutWaiting = 0

// likeness does nothing, since there are no owners and permissions to copy here.
func likeness(_, _ string) error { return nil }

// room returns the largest number, since the free space is not known here. If there is too little, a write fails.
func room(_ string) (uint64, error) { return math.MaxUint64, nil }
