package query

import (
	"time"

	"adshard/barrels/index"
)

// alone returns the allowance of a cache that has a budget of its own.
func alone(bytes uint64) *index.Allowance { return index.NewBudget(bytes).Allow(16, time.Microsecond) }
