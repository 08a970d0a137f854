package paired

import (
	"slices"
	"time"
)

// ClockCost is what reading the clock once costs: the median of many. The floor takes little
// more for a whole query.
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
