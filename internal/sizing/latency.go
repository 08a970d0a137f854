package sizing

import (
	"math"
	"sort"
)

// Queue describes a machine as seen by its queries: processors that serve jobs in turn.
type Queue struct {
	Cores int
	// Busy is how many processors the jobs need on average. Job is the mean time of a job.
	Busy, Job float64
}

// waiting is a distribution of waiting times: some jobs do not wait, and the waits of the others are exponential.
type waiting struct {
	share float64 // the share of jobs that wait
	rate  float64 // the rate of the waits, per microsecond
}

// wait returns how long a job waits for a processor: by Erlang's C formula, with the mean of M/M/c multiplied by the
// variability.
func (q Queue) wait(variability float64) waiting {
	load := q.Busy / float64(q.Cores)
	if load <= 0 {
		return waiting{0, 1}
	}
	if load >= 1 {
		return waiting{1, 0} // for ever
	}
	blocked := 1.0 // Erlang's B formula, by its recursion
	for n := 1; n <= q.Cores; n++ {
		blocked = q.Busy * blocked / (float64(n) + q.Busy*blocked)
	}
	return waiting{
		share: blocked / (1 - load*(1-blocked)),
		rate:  float64(q.Cores) * (1 - load) / (q.Job * variability),
	}
}

// twoLonger returns the share of the sums of two waits that exceed t.
func (w waiting) twoLonger(t float64) float64 {
	if t < 0 {
		return 1
	}
	return (2*w.share*(1-w.share) + w.share*w.share*(1+w.rate*t)) * math.Exp(-w.rate*t)
}

// stratum is a part of a distribution: its share of the times, and the share of times that exceed its middle.
type stratum struct{ share, exceeded float64 }

// strata are the parts into which distributions are divided, finer towards the longest times: 36 for each power of
// ten, and the rest.
var strata = func() (list [parts]stratum) {
	upper := 1.0
	for i := range list[:parts-1] {
		lower := (10 - float64(i%36+1)/4) * math.Pow10(-1-i/36)
		list[i] = stratum{upper - lower, (upper + lower) / 2}
		upper = lower
	}
	list[parts-1] = stratum{upper, upper / 2}
	return list
}()

const parts = 4*36 + 1

// Exceeded returns the latency, in microseconds, that a share of the queries exceeds. Each shard has the given number
// of keywords, and the given bytes of memory for each. The latency consists of what a query takes alone, the wait for
// the slowest shard, the calls that the master makes one after the other, and the waits for processors: two at the
// master and one at each slave. It is infinite if the machine cannot keep up.
func (f *Figures) Exceeded(share float64, shards int, keywords, bytes float64, q Queue) float64 {
	if q.Busy >= float64(q.Cores) {
		return math.Inf(1)
	}
	w := q.wait(f.Variability)
	calls := newSum(f.calls(keywords, bytes), w)
	before := inverses(w.twoLonger)
	serial := float64(shards-1) * f.MasterCall
	longer := func(t float64) (sum float64) {
		for i, s := range strata {
			one := calls.longer(t - serial - before[i])
			sum += s.share * -math.Expm1(float64(shards)*math.Log1p(-one)) // of the slowest
		}
		return sum
	}
	return inverse(longer, share)
}

// calls returns the latencies of a query with one shard, at the middle of each stratum, without any other queries.
func (f *Figures) calls(keywords, bytes float64) (list [parts]float64) {
	measured, now := f.search(f.Alone.Keywords, math.Inf(1)), f.search(keywords, bytes)
	for i, s := range strata {
		list[i] = f.Alone.exceeded(s.exceeded) - measured.exceeded(s.exceeded) + now.exceeded(s.exceeded)
		list[i] = max(list[i], now.exceeded(s.exceeded))
		if i > 0 {
			list[i] = max(list[i], list[i-1]) // the difference between two measurements does not always rise
		}
	}
	return list
}

// sum is the distribution of a time, which rises from stratum to stratum, plus a wait after it.
type sum struct {
	times [parts]float64
	wait  waiting
	// over[i] is the share of the times from stratum i on. waiting[i] adds up the shares of the strata up to i, each
	// multiplied by the probability that an exponential wait that begins at the stratum's time lasts until the time
	// of stratum i.
	over    [parts + 1]float64
	waiting [parts]float64
}

func newSum(times [parts]float64, w waiting) *sum {
	s := &sum{times: times, wait: w}
	for i := parts - 1; i >= 0; i-- {
		s.over[i] = s.over[i+1] + strata[i].share
	}
	last := 0.0
	for i, t := range times {
		s.waiting[i] = strata[i].share
		if i > 0 {
			s.waiting[i] += last * math.Exp(-w.rate*(t-times[i-1]))
		}
		last = s.waiting[i]
	}
	return s
}

// longer returns the share of the sums that exceed t.
func (s *sum) longer(t float64) float64 {
	i := sort.SearchFloat64s(s.times[:], t) // the first time that is at least t
	share := s.over[i]
	if i > 0 {
		share += s.wait.share * s.waiting[i-1] * math.Exp(-s.wait.rate*(t-s.times[i-1]))
	}
	return min(share, 1)
}

// inverses returns, for each stratum, the time t for which longer(t) is the share that exceeds its middle.
func inverses(longer func(float64) float64) (list [parts]float64) {
	for i, s := range strata {
		list[i] = inverse(longer, s.exceeded)
	}
	return list
}

// inverse returns the time t for which longer(t), a falling function, is the share.
func inverse(longer func(float64) float64, share float64) float64 {
	if longer(0) <= share {
		return 0
	}
	low, high := 0.0, 1.0
	for longer(high) > share {
		if low, high = high, 2*high; high > 1e15 {
			return math.Inf(1)
		}
	}
	for range 40 {
		if middle := (low + high) / 2; longer(middle) > share {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
