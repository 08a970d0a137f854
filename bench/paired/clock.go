package paired

import (
	"slices"
	"time"
)

// ClockCost returns the cost of reading the clock once, the median of many. The layout floor
// takes little longer for a whole query.
func ClockCost() time.Duration {
	took := make([]time.Duration, 1001)
	for i := range took {
		const looks = 100
		start := time.Now()
		for range looks {
			_ = time.Now()
		}
		took[i] = time.Since(start) / (looks + 1)
	}
	slices.Sort(took)
	return took[len(took)/2]
}
