package compare

import (
	"fmt"
	"slices"
)

// Sample is a cluster's state at a time and what happened since the previous
// sample, for real and simulated clusters.
type Sample struct {
	// At is the number of seconds since the load began.
	At float64
	// Load is the load of each slave, in any unit; Items is the number of items
	// that each serves.
	Load  []float64
	Items []int
	// MaxOverMean and Bound are 0 if they are to be computed from the Load of
	// several samples.
	MaxOverMean, Bound float64
	// Traced is max/mean by what queries cost in the trace, without measurement
	// noise; 0: only MaxOverMean is known.
	Traced float64
	// PerQuery is the time at a query's slowest slave ÷ the query's bound; 0: not
	// known.
	PerQuery float64
	// P50 and P99 are latencies at the master, SlaveP99 at each slave, in
	// milliseconds.
	P50, P99            float64
	SlaveP99            []float64
	Queries, Incomplete int
	InFlight            int
	MovedItems          uint64
	// Period is set by observed.add.
	Period Period
}

// Period says whether slices have moved or are moving.
type Period int

// The periods: before the first move, while slices are moving, and while none
// is moving, after the first move.
const (
	Before Period = iota
	During
	After
)

// String returns the period's name in figures.
func (p Period) String() string { return [...]string{"before", "during", "after"}[p] }

const (
	// goalRatio and goalBound define when a cluster is balanced: if max/mean is at
	// most goalRatio, or at most goalBound times the bound.
	goalRatio, goalBound = 1.15, 1.05
	// window is the number of samples over which measured loads are averaged.
	window = 10
)

// observed collects samples.
type observed struct {
	slaves  []string
	shifts  []float64 // seconds at which mixes begin, except the first
	samples []Sample
}

// add adds the next sample and returns its period.
func (o *observed) add(s Sample) Period {
	moved := uint64(0)
	if n := len(o.samples); n > 0 {
		moved = o.samples[n-1].MovedItems
	}
	switch {
	case s.InFlight > 0 || s.MovedItems > moved:
		s.Period = During
	case s.MovedItems > 0:
		s.Period = After
	}
	o.samples = append(o.samples, s)
	if s.MaxOverMean == 0 {
		o.samples[len(o.samples)-1].MaxOverMean = o.recent()
	}
	return s.Period
}

// recent returns max/mean of the load over the newest samples.
func (o *observed) recent() float64 {
	sums := make([]float64, len(o.slaves))
	for _, s := range o.samples[max(0, len(o.samples)-window):] {
		for i, v := range s.Load {
			sums[i] += v
		}
	}
	total := 0.0
	for _, v := range sums {
		total += v
	}
	if total == 0 {
		return 1
	}
	return slices.Max(sums) * float64(len(sums)) / total
}

// series adds the series of all samples to a run.
func (o *observed) series(r *Run) {
	last := 0.0
	for _, s := range o.samples {
		r.Point(MaxOverMean, "", s.At, s.MaxOverMean)
		point := func(of, name string, v float64) {
			if v > 0 {
				r.Point(of, name, s.At, v)
			}
		}
		point(LowerBound, "", s.Bound)
		point(PerQuery, "", s.PerQuery)
		point(TracedMaxOverMean, "", s.Traced)
		if s.Queries > 0 {
			point(MasterP50, "", s.P50)
			point(MasterP99, "", s.P99)
		}
		r.Point(MovedItems, "", s.At, float64(s.MovedItems))
		r.Point(InFlight, "", s.At, float64(s.InFlight))
		r.Point(Answers, "", s.At, float64(s.Queries)/max(s.At-last, 1e-9))
		r.Point(Incomplete, "", s.At, float64(s.Incomplete))
		last = s.At
		for i, name := range o.slaves {
			if i < len(s.Load) {
				r.Point(SlaveLoad, name, s.At, s.Load[i])
			}
			if i < len(s.Items) {
				r.Point(SlaveItems, name, s.At, float64(s.Items[i]))
			}
			if i < len(s.SlaveP99) {
				point(SlaveP99, name, s.SlaveP99[i])
			}
		}
	}
}

// balance adds, for each mix, how even the load is and when it became balanced.
func (o *observed) balance(r *Run) {
	if len(o.samples) == 0 {
		return
	}
	begins := append([]float64{0}, o.shifts...)
	for i, from := range begins {
		until := o.samples[len(o.samples)-1].At + 1
		if i+1 < len(begins) {
			until = begins[i+1]
		}
		part := o.between(from, until)
		if len(part) == 0 {
			continue
		}
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprintf(", after change %d", i)
		}
		first, last := part[min(len(part)-1, window/2)], part[len(part)-1]
		r.Add("max/mean at the start"+suffix, "", first.MaxOverMean)
		r.Add("max/mean at the end"+suffix, "", last.MaxOverMean)
		if last.Traced > 0 {
			r.Add("max/mean by the trace at the end"+suffix, "", last.Traced)
		}
		if last.Bound > 0 {
			r.Add("lower bound at the end"+suffix, "", last.Bound)
		}
		if at, ok := balancedFrom(part); ok {
			r.Add("time to balance"+suffix, "s", at-from)
		} else {
			r.Notes = append(r.Notes, fmt.Sprintf("not balanced%s: max/mean is %.2f, the goal is %.2f", suffix, last.MaxOverMean, last.goal()))
		}
	}
	o.perQuery(r)
}

// perQuery adds the time at queries' slowest slaves relative to their bounds,
// at the start and at the end.
func (o *observed) perQuery(r *Run) {
	n := len(o.samples)
	for _, part := range []struct {
		name string
		list []Sample
	}{{"at the start", o.samples[:min(n, window)]}, {"at the end", o.samples[max(0, n-window):]}} {
		sum, count := 0.0, 0
		for _, s := range part.list {
			if s.PerQuery > 0 {
				sum, count = sum+s.PerQuery, count+1
			}
		}
		if count > 0 {
			r.Add("slowest slave of a query ÷ the query's bound, "+part.name, "", sum/float64(count))
		}
	}
}

func (o *observed) between(from, until float64) []Sample {
	return slices.DeleteFunc(slices.Clone(o.samples), func(s Sample) bool { return s.At < from || s.At >= until })
}

// goal returns the max/mean at which the cluster counts as balanced.
func (s Sample) goal() float64 { return max(goalRatio, goalBound*s.Bound) }

// balancedFrom returns the time from which all samples are balanced. Single
// exceptions are ignored, because measurements are noisy. ok is false if there
// is no such time.
func balancedFrom(part []Sample) (at float64, ok bool) {
	i, over := len(part), 0
	for i > 0 {
		if s := part[i-1]; s.MaxOverMean > s.goal() {
			if over++; over > 1 || i == len(part) {
				break
			}
		} else {
			over = 0
		}
		i--
	}
	if over > 1 {
		i++ // the sample before the break was not balanced either
	}
	if i >= len(part) {
		return 0, false
	}
	return part[i].At, true
}

// latencies adds the quantiles of the periods, as means of the samples weighted
// by queries.
func (o *observed) latencies(r *Run) {
	for p := Before; p <= After; p++ {
		var p50, p99, slave, n, m float64
		for _, s := range o.samples {
			if s.Period != p || s.Queries == 0 {
				continue
			}
			q := float64(s.Queries)
			p50, p99, n = p50+q*s.P50, p99+q*s.P99, n+q
			if len(s.SlaveP99) > 0 {
				slave, m = slave+q*slices.Max(s.SlaveP99), m+q
			}
		}
		if n > 0 {
			r.Add("p50 at the master, "+p.String()+" moves", "ms", p50/n)
			r.Add("p99 at the master, "+p.String()+" moves", "ms", p99/n)
		}
		if m > 0 {
			r.Add("p99 at the slowest slave, "+p.String()+" moves", "ms", slave/m)
		}
	}
}
