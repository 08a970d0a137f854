// Package traffic tells a balancer what masters answer. Each master counts its searches by outcome and duration,
// and reports the counts with each poll of the map. The balancer keeps the counts of the last minute, and
// computes rates, shares and percentiles from them.
//
// Goals: a few atomic additions for each query, half a kilobyte for each poll, bounded memory whatever a master
// reports. Non-goals: anything exact or lasting, for which masters have metrics.
package traffic

import (
	"math"
	"sync/atomic"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

const (
	// Buckets is the number of buckets for durations. Each ends a quarter above the end of the previous one;
	// the last one has no end.
	Buckets = 56
	// shortest is the end of the first bucket. The last bucket but one ends at 8.6 s, beyond all deadlines.
	shortest = 50 * time.Microsecond
	step     = 1.25
)

// Bound returns the end of a bucket other than the last.
func Bound(bucket int) time.Duration {
	return time.Duration(float64(shortest) * math.Pow(step, float64(bucket)))
}

// bucketOf returns the bucket of a duration.
func bucketOf(took time.Duration) int {
	if took <= shortest {
		return 0
	}
	return min(Buckets-1, int(math.Ceil(math.Log(float64(took)/float64(shortest))/math.Log(step))))
}

// Counter counts what a master answers. It is safe for concurrent use. The zero value is ready to use.
type Counter struct {
	complete, incomplete, refused, failed atomic.Uint64
	took                                  [Buckets]atomic.Uint64
}

// Count counts a search with its duration. err is nil if there was an answer. Requests that were invalid, or
// whose client went away, are not counted.
func (c *Counter) Count(took time.Duration, complete bool, err error) {
	switch {
	case err == nil && complete:
		c.complete.Add(1)
	case err == nil:
		c.incomplete.Add(1)
	case fault.Is(err, fault.Overloaded):
		c.refused.Add(1)
		return
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.NotFound), fault.Is(err, fault.Cancelled), fault.Is(err, fault.Forbidden):
		return
	default:
		c.failed.Add(1)
		return
	}
	c.took[bucketOf(took)].Add(1)
}

// Message returns the counts so far.
func (c *Counter) Message() *pb.Traffic {
	m := &pb.Traffic{
		Complete: c.complete.Load(), Incomplete: c.incomplete.Load(), Refused: c.refused.Load(), Failed: c.failed.Load(),
		Took: make([]uint64, Buckets),
	}
	for i := range c.took {
		m.Took[i] = c.took[i].Load()
	}
	return m
}
