package fanout

import (
	"context"
	"math/rand/v2"
	"time"

	"adshard/fault"
	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

// worth is what the answer of a replica is worth when there are others.
type worth struct {
	outcome choice.Outcome
	width   search.Width
	lag     time.Duration
}

// better reports whether an answer is worth more than another.
func (w worth) better(o worth) bool {
	return o.width.Less(w.width) || w.width == o.width && w.lag < o.lag
}

// turn is what one query knows of a shard with replicas. One answer counts: the first
// that is what it should be, else the best when no other replica can be asked.
type turn[A any] struct {
	asked  choice.Asked
	open   int  // calls under way
	done   bool // it has answered or failed
	hedged bool
	spent  bool // there was no budget
	wanted bool // another replica is to be asked
	free   bool // outside the budget
	more   once // whether the replicas are asked once more
	best   *A   // of the answers that are less than they should be; nil: none
	worth  worth
	err    error // why the others have none
}

// once is a second round of calls to replicas without a connection.
type once struct {
	spent bool // there was one, or is
	at    time.Duration
	waits bool // it begins at at
}

// began notes a call to replica r.
func (t *turn[A]) began(r int) {
	t.asked = t.asked.With(r)
	t.open++
}

// keep keeps the better of two answers that are not what they should be, or the error
// that says more: one of a replica that is there, and before all others that a view is
// over, since a newer map may help: whoever else refuses may have left the set.
func (t *turn[A]) keep(answer *A, w worth, err error) {
	switch {
	case err == nil:
		if t.best == nil || w.better(t.worth) {
			t.best, t.worth = answer, w
		}
	case t.err == nil || outcomeOf(t.err) == choice.Broken || fault.Is(err, fault.Stale):
		t.err = err
	}
}

// took takes the answer of a replica, or why it has none. Called under mu.
func (a *asking[A]) took(c *call, answer *A, err error) {
	s, t := &a.g.shards[c.shard], &a.turns[c.shard]
	var w worth
	if err == nil {
		w, err = a.plan.judge(s, answer)
	}
	if err != nil {
		w.outcome = outcomeOf(err)
	}
	ejected := a.observe(c, w.outcome, err)
	t.open--
	if t.done {
		return
	}
	if w.outcome == choice.Full {
		if c.hedge && a.f.observer != nil {
			a.f.observer.HedgeWon(s.Name)
		}
		a.finish(int(c.shard), answer, nil)
		return
	}
	t.keep(answer, w, err)
	if !c.replaced || t.open == 0 { // there may have been no budget to replace it
		t.wanted, t.free = true, t.free || ejected
	}
	a.todo = append(a.todo, int(c.shard))
	a.rouse()
}

// finish ends the turn of shard i with what counts. Called under mu.
func (a *asking[A]) finish(i int, answer *A, err error) {
	t := &a.turns[i]
	t.done = true
	if t.open > 0 {
		a.lost = true
		a.rouse()
	}
	if answer != nil {
		a.tell(a.g.Answered(i, answer))
	} else {
		a.tell(a.g.Failed(i, err))
	}
}

// settle ends the turns that have an answer, though not what it should be, or know that
// the data are not new enough: there is no time for another replica. Called under mu.
func (a *asking[A]) settle() {
	for i := range a.turns {
		switch t := &a.turns[i]; {
		case t.done:
		case t.best != nil:
			t.done = true
			a.g.Answered(i, t.best)
		case fault.Is(t.err, fault.Behind):
			t.done = true
			a.g.Failed(i, t.err)
		}
	}
}

// askOthers asks other replicas in place of those that have not served.
func (a *asking[A]) askOthers(ctx context.Context) {
	for some := false; ; some = true {
		a.mu.Lock()
		if len(a.todo) == 0 {
			a.mu.Unlock()
			if some { // calls began, or a second round is to begin
				a.setTimer(a.f.now())
			}
			return
		}
		i := a.todo[len(a.todo)-1]
		a.todo = a.todo[:len(a.todo)-1]
		k := a.another(i)
		a.mu.Unlock()
		if k >= 0 {
			a.send(ctx, k)
		}
	}
}

// another begins a call to another replica of shard i, and returns which call it is; −1:
// there is none, and then the turn ends unless other calls are under way. Called under
// mu.
func (a *asking[A]) another(i int) (k int) {
	s, t := &a.g.shards[i], &a.turns[i]
	if t.done {
		return -1
	}
	if t.wanted {
		r, spent := s.Choice.Again(t.asked, t.free, a.now())
		t.wanted, t.free = false, false
		if r != choice.None {
			if a.f.observer != nil {
				a.f.observer.AskedElsewhere(s.Name)
			}
			return a.add(i, r, false)
		}
		a.noBudget(i, spent, "again")
	}
	if t.open == 0 && !a.onceMore(i) {
		a.finish(i, t.best, t.err)
	}
	return -1
}

// onceMore has the replicas of shard i asked once more, after a moment, if all that is
// wrong is that there was no connection to any of them: one that has just started again
// can be reached at once, though its link would wait before it tries. It reports whether
// the turn goes on. Called under mu.
func (a *asking[A]) onceMore(i int) bool {
	s, t := &a.g.shards[i], &a.turns[i]
	if t.more.waits {
		return true
	}
	if t.more.spent || t.best != nil || outcomeOf(t.err) != choice.Broken {
		return false
	}
	t.more.spent = true
	if !s.Choice.OnceMore() {
		a.noBudget(i, true, "again")
		return false
	}
	for _, r := range s.Replicas {
		if l, ok := r.Slave.(reconnecting); ok {
			l.Reconnect()
		}
	}
	t.more.waits, t.more.at = true, a.f.now()+tickEvery
	return true
}

// reconnecting is a Slave that Reconnect has try at once to connect again. It does not
// wait.
type reconnecting interface{ Reconnect() }

// add adds a call, which is to be sent. Called under mu.
func (a *asking[A]) add(i, replica int, hedge bool) (k int) {
	a.turns[i].began(replica)
	a.calls = append(a.calls, call{began: a.f.now(), shard: int32(i), replica: int8(replica), hedge: hedge})
	return len(a.calls) - 1
}

// noBudget reports, once for each shard, that no other replica was asked since the
// budget is used up.
func (a *asking[A]) noBudget(i int, spent bool, budget string) {
	t := &a.turns[i]
	if spent && !t.spent && a.f.observer != nil {
		a.f.observer.BudgetUsedUp(a.g.shards[i].Name, budget)
	}
	t.spent = t.spent || spent
}

// now is a call that begins now.
func (a *asking[A]) now() choice.Call {
	return choice.Call{Now: a.f.now(), Patience: a.patience, Random: rand.Uint64()}
}

// giveUpLost gives up the calls to shards that have answered.
func (a *asking[A]) giveUpLost() {
	a.mu.Lock()
	var open []int
	if a.lost {
		a.lost = false
		open = a.open(func(c *call) bool { return a.turns[c.shard].done })
	}
	a.mu.Unlock()
	for _, k := range open {
		c := &a.calls[k]
		c.giveUp(context.Canceled)
		o := choice.Beaten
		if c.hedge {
			o = choice.Needless
		}
		a.observe(c, o, nil)
	}
}

// lookAfter looks after calls that wait: in place of those to replicas that were ejected
// in the meantime others are asked, and beside those that take too long.
func (a *asking[A]) lookAfter(ctx context.Context) {
	c := a.now()
	var hedges []int
	a.mu.Lock()
	for k := range a.calls {
		w := &a.calls[k]
		if w.over || a.turns[w.shard].done || len(a.g.shards[w.shard].Replicas) == 1 {
			continue
		}
		s, t := &a.g.shards[w.shard], &a.turns[w.shard]
		switch {
		case !w.replaced && !s.Replicas[w.replica].Known.In():
			w.replaced, t.wanted, t.free = true, true, true
			a.todo = append(a.todo, int(w.shard))
		case a.plan.hedged && !t.hedged && c.Now-w.began >= s.Choice.HedgeAfter():
			c.Waited = c.Now - w.began
			if h := a.hedge(int(w.shard), c); h >= 0 {
				hedges = append(hedges, h)
			}
		}
	}
	for i := range a.turns {
		if t := &a.turns[i]; !t.done && t.more.waits && c.Now >= t.more.at {
			t.more.waits, t.asked, t.wanted = false, 0, true
			a.todo = append(a.todo, i)
		}
	}
	a.mu.Unlock()
	for _, k := range hedges {
		a.send(ctx, k)
	}
	a.setTimer(c.Now)
}

// hedge begins a call beside those to shard i, and returns which call it is; −1: there is
// none. Called under mu.
func (a *asking[A]) hedge(i int, c choice.Call) (k int) {
	s, t := &a.g.shards[i], &a.turns[i]
	r, spent := s.Choice.Hedge(t.asked, c)
	if r == choice.None {
		a.noBudget(i, spent, "hedge")
		return -1
	}
	t.hedged = true
	if a.f.observer != nil {
		a.f.observer.Hedged(s.Name)
	}
	return a.add(i, r, true)
}

// setTimer sets when to look after calls that wait: when the first is to be hedged, and
// once a tick, when replicas are ejected.
func (a *asking[A]) setTimer(now time.Duration) {
	if a.turns == nil {
		return
	}
	next, some := tickEvery, false
	a.mu.Lock()
	for i := range a.turns {
		t, s := &a.turns[i], &a.g.shards[i]
		if !t.done && t.more.waits {
			some = true
			next = min(next, max(t.more.at-now, 0))
		}
		if t.done || t.open == 0 || len(s.Replicas) == 1 {
			continue
		}
		some = true
		if at := a.calls[i].began + s.Choice.HedgeAfter(); a.plan.hedged && !t.hedged && at > now {
			next = min(next, at-now)
		}
	}
	a.mu.Unlock()
	switch {
	case !some:
		a.stopTimer()
	case a.look == nil:
		a.look = time.NewTimer(next)
	default:
		a.look.Reset(next)
	}
}

// timer returns what the timer sends to.
func (a *asking[A]) timer() <-chan time.Time {
	if a.look == nil {
		return nil
	}
	return a.look.C
}

func (a *asking[A]) stopTimer() {
	if a.look != nil {
		a.look.Stop()
	}
}
