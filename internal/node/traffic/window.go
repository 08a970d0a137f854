package traffic

import (
	"time"

	"adshard/schema/pb"
)

const (
	// kept is how long counts are kept, and apart the least time between two kept reports.
	kept  = time.Minute
	apart = 5 * time.Second
	// silent is the time after which a silent master is ignored: several polls of the map, of at most two seconds
	// each.
	silent = 10 * time.Second
	// most bounds a count, so that sums over all masters are exact as floating-point numbers.
	most = 1 << 43
)

// Window keeps the reports of one master over the last minute. The zero value has no reports.
type Window struct{ list []sample }

// sample holds the counts at one moment.
type sample struct {
	at     time.Duration
	counts [4 + Buckets]uint64 // complete, incomplete, refused, failed, and by duration
}

// Add adds the counts reported at a time of the balancer's monotonic clock. It ignores counts of a master of
// another version, with other buckets, and counts that are out of bounds. If counts went down, the window starts
// afresh.
func (w *Window) Add(at time.Duration, m *pb.Traffic) {
	if m == nil || len(m.GetTook()) != Buckets {
		return
	}
	s := sample{at: at}
	for i, n := range append([]uint64{m.GetComplete(), m.GetIncomplete(), m.GetRefused(), m.GetFailed()}, m.GetTook()...) {
		if n > most {
			return
		}
		s.counts[i] = n
	}
	n := len(w.list)
	if n > 0 && !s.after(&w.list[n-1]) {
		w.list, n = w.list[:0], 0
	}
	if n > 1 && s.at-w.list[n-2].at < apart {
		w.list[n-1] = s // the newest report is always kept
	} else {
		w.list = append(w.list, s)
	}
	for len(w.list) > 2 && at-w.list[1].at >= kept {
		w.list = append(w.list[:0], w.list[1:]...)
	}
}

// after reports whether no count is less than in an earlier sample.
func (s *sample) after(old *sample) bool {
	for i, n := range s.counts {
		if n < old.counts[i] {
			return false
		}
	}
	return s.at >= old.at
}

// Rates describe the recent answers of masters.
type Rates struct {
	// Over is the length of time that the rates cover, or 0 if nothing is known.
	Over time.Duration
	// PerSecond is the number of searches per second that had, or should have had, an answer.
	PerSecond float64
	// Incomplete, Refused (because of overload) and Failed are shares of these searches.
	Incomplete, Refused, Failed float64
	// P50 and P99 are percentiles of the durations of answers, or 0 if there were none.
	P50, P99 time.Duration
}

// Lately returns what masters together have answered in the last minute, or since they began. `now` is a time of
// the clock that Add uses. A master without a recent report is left out.
func Lately(now time.Duration, masters ...*Window) Rates {
	var sum [4 + Buckets]float64
	var r Rates
	for _, w := range masters {
		if len(w.list) < 2 {
			continue
		}
		first, last := &w.list[0], &w.list[len(w.list)-1]
		seconds := (last.at - first.at).Seconds()
		if seconds <= 0 || now-last.at > silent {
			continue
		}
		r.Over = max(r.Over, last.at-first.at)
		for i := range sum {
			sum[i] += float64(last.counts[i]-first.counts[i]) / seconds
		}
	}
	r.PerSecond = sum[0] + sum[1] + sum[2] + sum[3]
	if r.PerSecond > 0 {
		r.Incomplete, r.Refused, r.Failed = sum[1]/r.PerSecond, sum[2]/r.PerSecond, sum[3]/r.PerSecond
	}
	r.P50, r.P99 = percentile(sum[4:], 0.5), percentile(sum[4:], 0.99)
	return r
}

// percentile returns the duration below which a share of the answers lies. That is the end of a bucket, or the
// beginning of the last bucket.
func percentile(took []float64, share float64) time.Duration {
	all := 0.0
	for _, n := range took {
		all += n
	}
	if all == 0 {
		return 0
	}
	for i, n := range took {
		if share -= n / all; share <= 1e-9 {
			return Bound(min(i, Buckets-2))
		}
	}
	return Bound(Buckets - 2)
}
