package fanout

import (
	"context"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"adshard/fault"
	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

// worth says how good a replica's answer is compared with others.
type worth struct {
	outcome choice.Outcome
	width   search.Width
	lag     time.Duration
}

// better reports whether an answer is better than another.
func (w worth) better(o worth) bool {
	return o.width.Less(w.width) || w.width == o.width && w.lag < o.lag
}

// turn is what one query knows about the replicas of a shard. The query uses one answer: the first
// that is as it should be, or else the best one when no other replica can be asked.
type turn[A any] struct {
	asked  choice.Asked
	open   int  // calls under way
	done   bool // the shard has answered or failed
	hedged bool
	spent  bool // the budget was used up
	wanted bool // another replica is to be asked
	free   bool // without using the budget
	twice  bool // all replicas were asked once more
	best   *A   // best of the answers that are not as they should be, or nil
	worth  worth
	err    error // why the other replicas have no answer
}

// began records a call to replica r.
func (t *turn[A]) began(r int) {
	t.asked = t.asked.With(r)
	t.open++
}

// keep keeps the better of two insufficient answers, or the more useful of two errors. The most
// useful error is that a view is no longer served, since a newer map may help. Next comes an error
// of a replica that can be reached. A replica that refuses may have left the set.
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

// ended records the result of call k, unless it comes too late.
func (s *scatter[A]) ended(k int, answer *A, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.calls[k]
	if c.over {
		return
	}
	c.over = true
	i := int(c.shard)
	if len(s.replies.shards[i].Replicas) == 1 {
		s.observe(c, outcomeOf(err), err)
		s.finish(i, answer, err)
		return
	}
	var w worth
	if err == nil {
		w, err = s.judge(&s.replies.shards[i], answer)
	}
	if err != nil {
		w.outcome = outcomeOf(err)
	}
	ejected := s.observe(c, w.outcome, err)
	t := &s.turns[i]
	t.open--
	switch {
	case t.done:
	case w.outcome == choice.Full:
		if c.hedge && s.f.observer != nil {
			s.f.observer.HedgeWon(s.replies.shards[i].Name)
		}
		s.finish(i, answer, nil)
	default:
		t.keep(answer, w, err)
		if !c.replaced || t.open == 0 { // there may have been no budget to replace it
			t.wanted, t.free = true, t.free || ejected
		}
		s.rouse()
	}
}

// finish records the result of shard i: an answer, or why there is none. The caller holds mu.
func (s *scatter[A]) finish(i int, answer *A, err error) {
	if answer != nil {
		err = nil
	}
	s.replies.answers[i], s.replies.errs[i] = answer, err
	s.open--
	s.stale = s.stale || fault.Is(err, fault.Stale)
	lost := false // calls
	if s.turns != nil {
		s.turns[i].done = true
		lost = s.turns[i].open > 0
	}
	if s.open == 0 || s.stale || lost {
		s.rouse()
	}
}

// rouse wakes up the query's goroutine.
func (s *scatter[A]) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// observe records the outcome of a call, and reports whether its replica is ejected.
func (s *scatter[A]) observe(c *call, o choice.Outcome, err error) (ejected bool) {
	of, now := &s.replies.shards[c.shard], s.f.now()
	took, replica, needless := now-c.began, of.Replicas[c.replica].Name, o == choice.Beaten || o == choice.Needless
	if c.span != nil {
		if needless {
			c.span.Set(attribute.Bool("adshard.needless", true))
		}
		c.span.End(time.Now(), err)
	}
	if !needless && s.f.observer != nil {
		s.f.observer.Called(of.Name, replica, took, err)
	}
	if !needless && s.request.Timing != nil {
		s.request.Timing.Add(search.Part{Name: of.Name, Replica: replica, Began: s.f.start.Add(c.began), Took: took, Err: err})
	}
	if !s.timed {
		took = 0
	}
	return of.Choice.Ended(int(c.replica), now, took, o)
}

// look does what is due for shards with replicas. It gives up calls to shards that have answered,
// replaces calls to replicas that do not serve or have been ejected since, and adds calls next to
// those that take too long. It reports whether all shards have answered or failed, whether a view
// is no longer served, and after what time it must be called again.
func (s *scatter[A]) look(ctx context.Context) (over, stale bool, next time.Duration) {
	s.mu.Lock()
	if s.turns == nil {
		defer s.mu.Unlock()
		return s.open == 0, s.stale, 0
	}
	c := choice.Call{Now: s.f.now(), Patience: s.patience, Random: rand.Uint64()}
	known := len(s.calls)
	for k := range known {
		s.lookAfter(k, c)
	}
	for i := range s.turns {
		s.another(i, c)
	}
	lost := s.end(func(c *call) bool { return s.turns[c.shard].done })
	over, stale, next = s.open == 0, s.stale, s.next(c.Now)
	s.mu.Unlock()
	s.giveUp(lost, nil)
	for k := known; k < len(s.calls); k++ {
		s.send(ctx, k)
	}
	return over, stale, next
}

// lookAfter checks call k, if it is still waiting. The caller holds mu.
func (s *scatter[A]) lookAfter(k int, c choice.Call) {
	w := &s.calls[k]
	of, t := &s.replies.shards[w.shard], &s.turns[w.shard]
	c.Waited = c.Now - w.began
	switch {
	case w.over || t.done || len(of.Replicas) == 1:
	case !w.replaced && !of.Replicas[w.replica].Known.In():
		w.replaced, t.wanted, t.free = true, true, true
	case s.hedged && !t.hedged && c.Waited >= of.Choice.HedgeAfter():
		s.hedge(int(w.shard), c)
	}
}

// hedge adds a call next to those to shard i, if there is a replica for it. The caller holds mu.
func (s *scatter[A]) hedge(i int, c choice.Call) {
	of, t := &s.replies.shards[i], &s.turns[i]
	r, spent := of.Choice.Hedge(t.asked, c)
	if r == choice.None {
		s.noBudget(i, spent, "hedge")
		return
	}
	t.hedged = true
	if s.f.observer != nil {
		s.f.observer.Hedged(of.Name)
	}
	s.add(i, r, true)
}

// another begins a call to another replica of shard i, if one is wanted. If there is no other
// replica, the turn ends, unless other calls are under way. The caller holds mu.
func (s *scatter[A]) another(i int, c choice.Call) {
	of, t := &s.replies.shards[i], &s.turns[i]
	for t.wanted && !t.done {
		r, spent := of.Choice.Again(t.asked, t.free, c)
		t.wanted, t.free = false, false
		if r != choice.None {
			if s.f.observer != nil {
				s.f.observer.AskedElsewhere(of.Name)
			}
			s.add(i, r, false)
			return
		}
		s.noBudget(i, spent, "again")
		if t.open == 0 && !s.onceMore(i) {
			s.finish(i, t.best, t.err)
		}
	}
}

// onceMore asks the replicas of shard i once more if none of them had a connection and nothing else
// failed. A replica that has just restarted can be reached at once, although its link would pause
// before it tries again. The caller holds mu.
func (s *scatter[A]) onceMore(i int) bool {
	of, t := &s.replies.shards[i], &s.turns[i]
	if t.twice || t.best != nil || outcomeOf(t.err) != choice.Broken {
		return false
	}
	t.twice = true
	if !of.Choice.OnceMore() {
		s.noBudget(i, true, "again")
		return false
	}
	for _, r := range of.Replicas {
		if l, ok := r.Slave.(reconnecting); ok {
			l.Reconnect()
		}
	}
	t.asked, t.wanted = 0, true
	return true
}

// reconnecting is a Slave that connects again at once when Reconnect is called. Later requests wait
// for the connection; Reconnect does not.
type reconnecting interface{ Reconnect() }

// add adds a call that is to be sent. The caller holds mu.
func (s *scatter[A]) add(i, replica int, hedge bool) {
	s.turns[i].began(replica)
	s.calls = append(s.calls, call{began: s.f.now(), shard: int32(i), replica: int8(replica), hedge: hedge})
}

// noBudget reports, once for each shard, that no other replica was asked because the budget is used
// up.
func (s *scatter[A]) noBudget(i int, spent bool, budget string) {
	t := &s.turns[i]
	if spent && !t.spent && s.f.observer != nil {
		s.f.observer.BudgetUsedUp(s.replies.shards[i].Name, budget)
	}
	t.spent = t.spent || spent
}

// next returns the time until waiting calls must be checked again: when the first of them is to be
// hedged, and at each tick, at which replicas may be ejected. The caller holds mu.
func (s *scatter[A]) next(now time.Duration) time.Duration {
	next := tickEvery
	for i := range s.turns {
		t, at := &s.turns[i], s.calls[i].began+s.replies.shards[i].Choice.HedgeAfter()
		if s.hedged && !t.done && !t.hedged && at > now {
			next = min(next, at-now)
		}
	}
	return next
}
