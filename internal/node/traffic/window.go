package traffic

import (
	"time"

	"adshard/schema/pb"
)

const (
	// kept is the age of the oldest counts, apart the least time between two kept counts.
	kept  = time.Minute
	apart = 5 * time.Second
	// silent is the time after which a silent master no longer counts: several polls of the map of at most two
	// seconds each.
	silent = 10 * time.Second
	// most bounds a count: sums of those of all masters are exact as floating-point numbers.
	most = 1 << 43
)

// Window keeps the reports of one master over the last minute. The zero value has no reports.
type Window struct{ list []sample }

// sample are the counts of a moment.
type sample struct {
	at     time.Duration
	counts [4 + Buckets]uint64 // complete, incomplete, refused, failed, and by time
}

// Add adds counts reported at a time of the balancer's monotonic clock. Those of a master of another version, with
// other buckets, or beyond all bounds are left out; counts that went down begin anew.
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
		w.list[n-1] = s // the newest is always there
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

// Rates are the recent answers of masters.
type Rates struct {
	// Over is the time that they are of, or 0 if nothing is known.
	Over time.Duration
	// PerSecond is how many searches had an answer, or should have had one.
	PerSecond float64
	// Incomplete, Refused (as overload) and Failed are shares of these.
	Incomplete, Refused, Failed float64
	// P50 and P99 are of the answers, or 0 if there is none.
	P50, P99 time.Duration
}

// Lately returns what masters answered together in the last minute, or since they began, at a time of the clock of
// Add. A master without a recent report is left out.
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

// percentile returns the time below which a share of the answers lies: of a bucket its end, of the last
// one its beginning.
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
