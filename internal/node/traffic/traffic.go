// Package traffic tells a balancer what masters answer: each master counts its searches by
// outcome and time, and tells the counts with each poll of the map; the balancer keeps those
// of the last minute, and makes rates, shares and percentiles of them.
//
// Goals: a few atomic additions for a query, half a kilobyte a poll, bounded memory whatever a master reports.
// Non-goals: anything exact or lasting, which is what the metrics of masters are for.
package traffic

import (
	"math"
	"sync/atomic"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

const (
	// Buckets is the number of latency buckets: each ends up to a quarter later than the one before, the last one
	// has no end.
	Buckets = 56
	// shortest is the end of the first bucket. The last but one ends at 8.6 s, beyond all deadlines.
	shortest = 50 * time.Microsecond
	step     = 1.25
)

// Bound returns the end of a bucket but the last.
func Bound(bucket int) time.Duration {
	return time.Duration(float64(shortest) * math.Pow(step, float64(bucket)))
}

// bucketOf returns the bucket of a time.
func bucketOf(took time.Duration) int {
	if took <= shortest {
		return 0
	}
	return min(Buckets-1, int(math.Ceil(math.Log(float64(took)/float64(shortest))/math.Log(step))))
}

// Counter counts what a master answers. It is safe for use by several goroutines; the zero
// value has counted nothing.
type Counter struct {
	complete, incomplete, refused, failed atomic.Uint64
	took                                  [Buckets]atomic.Uint64
}

// Count counts a search that took so long. Answers have no error; a request that was wrong itself, or whose
// client went away, is none of the four.
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
