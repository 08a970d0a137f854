package compare

import (
	"context"
	"fmt"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/plan"
	"adshard/bench/trace"
	"adshard/bench/workload"
)

// Course is what a strategy does from its first plan, which knows no load, until it rests under
// the load of the first mix, and what it does from there after each change. It keeps what it
// has learned about topics by then, except after a restart.
type Course struct {
	Start Change `json:"start"`
	// Shift replaces the first mix of queries by the next one; nil if there is only one mix.
	Shift *Change `json:"shift,omitempty"`
	// Join adds an empty slave, Leave removes the first slave.
	Join  Change `json:"join"`
	Leave Change `json:"leave"`
	// Restart starts the balancer again without what it knew about topics; nil if the strategy
	// does not use topics.
	Restart *Change `json:"restart,omitempty"`
}

// Change is what a strategy does from a change until it proposes nothing more.
type Change struct {
	// Iterations counts the iterations until rest, including those without a proposal at the end.
	// Rested is false if the strategy was stopped before it rested.
	Iterations int  `json:"iterations"`
	Rested     bool `json:"rested"`
	// Balanced is the number of iterations after which max/mean was at most 1.15 (or 1.05 times
	// the bound, if that is more) and stayed there; -1: never.
	Balanced int `json:"balanced"`
	// MaxOverMean is the max/mean of the load at the end.
	MaxOverMean float64 `json:"max_over_mean"`
	// Moved, Least and Back are shares of the weight of all groups: what moved, the least that had
	// to move (for a slave that leaves, all that it had), and what returned within 10 iterations
	// to a slave that it had left.
	Moved float64 `json:"moved"`
	Least float64 `json:"least"`
	Back  float64 `json:"back"`
}

const (
	// studyBudget is the share of all groups that may move in an iteration.
	studyBudget = cluster.DefaultBudget
	// backWithin is the number of iterations within which a return counts as thrash.
	backWithin = 10
)

// Over returns moved ÷ least. If nothing had to move, it returns 1 if nothing did, or else -1.
func (c *Change) Over() float64 {
	switch {
	case c.Least > 0:
		return c.Moved / c.Least
	case c.Moved == 0:
		return 1
	}
	return -1
}

// travel follows a strategy on a number of slaves. It returns the results, and where the
// strategy has the groups when it first rests.
func (o *StudyOptions) travel(ctx context.Context, t *trace.Trace, w *workload.Workload, s balance.Strategy, slaves int) (row Placed, at Placement, err error) {
	row = Placed{Slaves: slaves, Placement: s.Name(), Course: new(Course)}
	in, err := begun(t, s, slaves)
	if err != nil {
		return row, at, err
	}
	asked, _ := o.mix(w, 0)
	first, c := o.learning(t, s, asked), row.Course
	if c.Start, err = first.follow(ctx, &in); err != nil {
		return row, at, err
	}
	at, row.Iterations, row.Pairs = Place(t, in.Model), c.Start.Iterations, first.known.mean()
	knowing := func(now []float64) *pupil {
		u := o.learning(t, s, asked)
		if first.known.asked() {
			u.known.learn(&in)
		}
		u.load = t.Load(now, o.Costs.weights())
		u.known.ask(now)
		return u
	}
	if w.Phases() > 1 {
		later := in
		now, _ := o.mix(w, 1)
		shift, err := knowing(now).follow(ctx, &later)
		if err != nil {
			return row, at, err
		}
		c.Shift = &shift
	}
	if first.known.asked() {
		later := in
		again, err := o.learning(t, s, asked).follow(ctx, &later)
		if err != nil {
			return row, at, err
		}
		c.Restart = &again
	}
	join := func(e *balance.Edit) error { _, err := e.Join("late", balance.Site{}); return err }
	leave := func(e *balance.Edit) error { return e.SetState(in.Model.Shards()[0].ID, balance.Draining) }
	if c.Join, err = knowing(asked).changed(ctx, in, join); err != nil || slaves == 1 {
		return row, at, err
	}
	c.Leave, err = knowing(asked).changed(ctx, in, leave)
	return row, at, err
}

// pupil is a strategy with what it learns about queries.
type pupil struct {
	t     *trace.Trace
	s     balance.Strategy
	load  []float64 // of each item
	known *samples  // nil: topics are not learned
}

// learning returns a pupil that has not seen any of these queries.
func (o *StudyOptions) learning(t *trace.Trace, s balance.Strategy, queries []float64) *pupil {
	return &pupil{t: t, s: s, load: t.Load(queries, o.Costs.weights()), known: newSamples(t, o, queries)}
}

// begun returns the input of a strategy after its first plan, which it makes by day.
func begun(t *trace.Trace, s balance.Strategy, slaves int) (balance.Input, error) {
	in := balance.Input{
		Items: t.Index(), Order: t.Order, Budget: balance.Budget{Share: studyBudget}, Time: time.Unix(0, 0).Add(12 * time.Hour),
	}
	shards := make([]balance.Shard, slaves)
	for i := range shards {
		shards[i].Name = fmt.Sprintf("slave-%d", i)
	}
	base, err := balance.NewModel(shards)
	if err != nil {
		return in, err
	}
	m, plan, err := plan.InitialOn(s, t.Order, base, in.Items, nil, in.Time)
	in.Model, in.Memory = m, plan.Memory
	return in, err
}

// changed follows a strategy after an edit of the model.
func (u *pupil) changed(ctx context.Context, in balance.Input, edit func(*balance.Edit) error) (Change, error) {
	e := in.Model.Edit()
	err := edit(e)
	if err == nil {
		in.Model, err = e.Model()
	}
	if err != nil {
		return Change{}, err
	}
	return u.follow(ctx, &in)
}

// follow runs a strategy's iterations until it rests, in the next night: the strategy original
// plans anew only at night. The night lasts as long as the strategy needs.
func (u *pupil) follow(ctx context.Context, in *balance.Input) (Change, error) {
	in.Time = nextNight(in.Time)
	f := &follower{t: u.t, load: u.load, goal: max(goalRatio, goalBound*itemBound(u.load, active(in.Model))), left: make(map[uint32]departed)}
	for _, v := range u.t.Weights {
		f.weight += float64(v)
	}
	f.c.Least = f.least(in.Model) / f.weight
	f.even(in.Model)
	v := settling{t: u.t, load: u.load, s: u.s, known: u.known, rest: rest, empties: true, seen: func(before, after Placement) {
		f.seen(before, after)
		f.even(in.Model)
	}}
	if err := v.run(ctx, in); err != nil {
		return Change{}, err
	}
	f.c.Rested, f.c.Balanced = v.rested, f.since
	return f.c, nil
}

// nextNight returns four in the morning, UTC, of the next day.
func nextNight(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour).Add(28 * time.Hour) }

// follower counts what moves.
type follower struct {
	t      *trace.Trace
	load   []float64
	goal   float64
	weight float64 // of all
	left   map[uint32]departed
	since  int // the iteration since which max/mean has been within the goal; -1: it is not
	c      Change
}

// departed says when an item left which slave.
type departed struct {
	from uint16
	at   int
}

// least returns the weight that had to move.
func (f *follower) least(m *balance.Model) (sum float64) {
	p := Place(f.t, m)
	goes := make(map[uint16]bool)
	for i, sh := range m.Shards() {
		goes[uint16(i)] = sh.State == balance.Draining
	}
	for i, n := range p.Owner {
		if goes[n] {
			sum += float64(f.t.Weights[i])
		}
	}
	if sum > 0 {
		return sum
	}
	return leastMove(f.t, f.load, p)
}

// seen adds the outcome of an iteration.
func (f *follower) seen(before, after Placement) {
	f.c.Iterations++
	for i, n := range after.Owner {
		if n == before.Owner[i] {
			continue
		}
		part := float64(f.t.Weights[i]) / f.weight
		f.c.Moved += part
		if d, ok := f.left[uint32(i)]; ok && d.from == n && f.c.Iterations-d.at <= backWithin {
			f.c.Back += part
		}
		f.left[uint32(i)] = departed{before.Owner[i], f.c.Iterations}
	}
}

// even records how evenly the load is spread over the slaves that stay.
func (f *follower) even(m *balance.Model) {
	p := Place(f.t, m)
	sums, total, most := make([]float64, p.Slaves), 0.0, 0.0
	for i, n := range p.Owner {
		sums[n] += f.load[i]
		total += f.load[i]
	}
	for _, v := range sums {
		most = max(most, v)
	}
	f.c.MaxOverMean = ratio(most, total/float64(active(m)))
	if f.c.MaxOverMean > f.goal*(1+1e-9) {
		f.since = -1
	} else if f.since < 0 {
		f.since = f.c.Iterations
	}
}

// active counts the shards that slices may go to.
func active(m *balance.Model) (n int) {
	for _, v := range m.Shards() {
		if v.State == balance.Active {
			n++
		}
	}
	return n
}
