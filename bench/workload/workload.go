package workload

import (
	"iter"
	"math"
	"math/rand/v2"
	"net/url"
	"sort"
	"time"
)

// Workload is a stream of queries.
type Workload struct {
	Name, About string
	// Queries are the different queries; everything else refers to them by
	// index.
	Queries []string
	// Contexts holds what the queries have besides their texts, as parameters (openloop.Search),
	// up to the last query with a context.
	Contexts []url.Values
	// Requests is the number of requests that the workload's source gives; 0: any number.
	Requests int
	// Note is what a reader of the figures should know; "" if there is nothing.
	Note string

	phases []phase
	wave   float64         // the rate varies by this share of its mean, in one wave per run
	times  []time.Duration // of a recorded log, one for each element of the sequence
	seed   uint64
}

// phase is a period in which one mix is asked.
type phase struct {
	// It begins at the time `at` or, if that is 0, after a share of the run.
	at    time.Duration
	share float64
	// sequence, if not nil, is asked in turn, again and again; otherwise queries are drawn by
	// weight.
	sequence []int32
	weights  []float64
	sums     []float64
}

// drawn returns a phase in which queries are drawn by weight.
func drawn(weights []float64) phase {
	p := phase{weights: weights, sums: make([]float64, len(weights))}
	sum := 0.0
	for i, w := range weights {
		sum += w
		p.sums[i] = sum
	}
	return p
}

// inTurn returns a phase in which a sequence over n queries is asked again and again.
func inTurn(sequence []int32, n int) phase {
	weights := make([]float64, n)
	for _, q := range sequence {
		weights[q]++
	}
	p := drawn(weights)
	p.sequence = sequence
	return p
}

// next returns the i-th query of the phase.
func (p *phase) next(i int, r *rand.Rand) int {
	if p.sequence != nil {
		return int(p.sequence[i%len(p.sequence)])
	}
	at := r.Float64() * p.sums[len(p.sums)-1]
	return min(sort.Search(len(p.sums), func(i int) bool { return p.sums[i] > at }), len(p.sums)-1)
}

// begin returns the time at which the phase begins in a run of this length.
func (p *phase) begin(run time.Duration) time.Duration {
	if p.at > 0 {
		return p.at
	}
	return time.Duration(p.share * float64(run))
}

// Context returns the parameters of a query's context, or nil if it has none.
func (w *Workload) Context(query int) url.Values {
	if query >= len(w.Contexts) {
		return nil
	}
	return w.Contexts[query]
}

// Phases returns the number of mixes, which are asked one after another.
func (w *Workload) Phases() int { return len(w.phases) }

// Begins returns when the i-th mix begins in a run of this length.
func (w *Workload) Begins(i int, run time.Duration) time.Duration { return w.phases[i].begin(run) }

// Weights returns the share of each query in the i-th mix; they sum to 1.
func (w *Workload) Weights(i int) []float64 {
	out := make([]float64, len(w.Queries))
	sum := w.phases[i].sums[len(w.phases[i].sums)-1]
	for j, v := range w.phases[i].weights {
		out[j] = v / sum
	}
	return out
}

// Events yields which query is asked when, in a run of this length: at random times with the
// given mean rate. A recorded log is asked at its own times (rate 0), or repeatedly at times
// stretched to give the rate. The same workload, rate and run give the same events.
func (w *Workload) Events(rate float64, run time.Duration) iter.Seq2[time.Duration, int] {
	if w.times != nil {
		return w.recorded(rate, run)
	}
	return func(yield func(time.Duration, int) bool) {
		gaps, draw := rand.New(rand.NewPCG(w.seed, 1)), rand.New(rand.NewPCG(w.seed, 2))
		now, asked, at := 0.0, 0, 0
		for {
			now += gaps.ExpFloat64() / w.rateAt(rate, now, run)
			t := time.Duration(now * float64(time.Second))
			if t >= run || math.IsInf(now, 0) {
				return
			}
			for at+1 < len(w.phases) && t >= w.phases[at+1].begin(run) {
				at, asked = at+1, 0
			}
			if !yield(t, w.phases[at].next(asked, draw)) {
				return
			}
			asked++
		}
	}
}

// rateAt returns the rate at a time: a wave begins and ends a run at its lowest rate.
func (w *Workload) rateAt(rate, now float64, run time.Duration) float64 {
	if w.wave == 0 {
		return rate
	}
	return rate * (1 - w.wave*math.Cos(2*math.Pi*now/run.Seconds()))
}

// recorded yields a log at its recorded times or, with a rate, at stretched times.
func (w *Workload) recorded(rate float64, run time.Duration) iter.Seq2[time.Duration, int] {
	stretch := 1.0
	if rate > 0 {
		stretch = float64(len(w.times)) / w.Recorded().Seconds() / rate
	}
	return func(yield func(time.Duration, int) bool) {
		for round := 0; ; round++ {
			before := float64(round) * float64(w.Recorded())
			for i, t := range w.times {
				at := (before + float64(t)) * stretch
				if at >= float64(run) || !yield(time.Duration(at), int(w.phases[0].sequence[i])) {
					return
				}
			}
			if rate == 0 {
				return
			}
		}
	}
}

// Lasts returns how long one pass of a recorded log takes at this rate in Events, or 0 if times
// are not recorded.
func (w *Workload) Lasts(rate float64) time.Duration {
	if rate == 0 {
		return w.Recorded()
	}
	return time.Duration(float64(len(w.times)) / rate * float64(time.Second))
}

// MeanRate returns the mean number of queries per second that Events yields.
func (w *Workload) MeanRate(rate float64, run time.Duration) float64 {
	if w.times == nil {
		return rate
	}
	n := 0
	for range w.Events(rate, run) {
		n++
	}
	return float64(n) / run.Seconds()
}

// Recorded returns the duration of a recorded log, or 0 if times are not recorded.
func (w *Workload) Recorded() time.Duration {
	if len(w.times) == 0 {
		return 0
	}
	return w.times[len(w.times)-1] + time.Millisecond
}

// Sequence yields queries endlessly in the order in which they are asked, for callers that ask
// one at a time. Only the first mix is asked.
func (w *Workload) Sequence() iter.Seq[int] {
	return func(yield func(int) bool) {
		draw := rand.New(rand.NewPCG(w.seed, 2))
		for i := 0; yield(w.phases[0].next(i, draw)); i++ {
		}
	}
}

// InTurn yields the queries once, in their order or, for a recorded log, in the order in which
// they were asked.
func (w *Workload) InTurn() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, q := range w.phases[0].sequence {
			if !yield(w.Queries[q]) {
				return
			}
		}
		if w.phases[0].sequence != nil {
			return
		}
		for _, text := range w.Queries {
			if !yield(text) {
				return
			}
		}
	}
}
