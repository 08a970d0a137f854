package fanout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/wire"
	"adshard/search"
	"adshard/search/display"
)

// replicated returns a map of one shard, which is the whole ring.
func replicated(slaves ...Slave) *Map {
	var list []Replica
	for i, s := range slaves {
		list = append(list, NewReplica(string(rune('a'+i)), s))
	}
	return &Map{Epoch: 1, View: 5, Shards: []Shard{NewShard("s", search.WholeRing(), choice.NewShard(), list...)}}
}

// first makes replica `i` the one that is asked first, by making the others appear slow.
func (m *Map) first(i int) *Map {
	set := m.Shards[0].Choice
	for k := range set.Len() {
		var asked choice.Asked
		for o := range set.Len() {
			if o != k {
				asked = asked.With(o)
			}
		}
		took := 100 * time.Millisecond
		if k == i {
			took = time.Millisecond
		}
		set.Again(asked, true, choice.Call{})
		set.Ended(k, 0, took, choice.Full)
	}
	return m
}

// scripted is a slave that answers after a while, unless its context ends first.
type scripted struct {
	after  time.Duration
	answer search.Answer
	err    error

	mu     sync.Mutex
	asked  int
	hedges int
}

// times returns how often the slave was asked.
func (a *scripted) times() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

func (a *scripted) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	a.mu.Lock()
	a.asked++
	if r.Hedge {
		a.hedges++
	}
	a.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, fault.New(fault.KindOf(ctx.Err()), "", ctx.Err())
	case <-time.After(a.after):
	}
	a.mu.Lock()
	err := a.err
	a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := a.answer
	return &answer, nil
}

func (a *scripted) Explain(ctx context.Context, r *search.Request, _ int) (*search.Explanation, error) {
	answer, err := a.Search(ctx, r)
	if err != nil {
		return nil, err
	}
	return &search.Explanation{Width: answer.Width, Total: answer.Matched}, nil
}

func serves(w search.Width, matched uint64) *scripted {
	return &scripted{answer: search.Answer{Width: w, Matched: matched, Shards: 1, Answered: 1}}
}

// seen is an observer that counts what it is told.
type seen struct {
	quick
	mu                             sync.Mutex
	failed, hedged, won, elsewhere int
	usedUp                         []string
}

func (s *seen) count(f func()) { s.mu.Lock(); defer s.mu.Unlock(); f() }

func (s *seen) Called(_, _ string, _ time.Duration, err error) {
	if err != nil {
		s.count(func() { s.failed++ })
	}
}
func (s *seen) Hedged(string)         { s.count(func() { s.hedged++ }) }
func (s *seen) HedgeWon(string)       { s.count(func() { s.won++ }) }
func (s *seen) AskedElsewhere(string) { s.count(func() { s.elsewhere++ }) }
func (s *seen) BudgetUsedUp(_, budget string) {
	s.count(func() { s.usedUp = append(s.usedUp, budget) })
}

// TestAnotherReplicaAnswers: whatever is wrong with the first replica, another one is asked at
// once, and its complete answer is used.
func TestAnotherReplicaAnswers(t *testing.T) {
	whole := search.WholeRing()
	damaged := serves(whole, 1)
	damaged.answer.Hits = []search.Hit{{Keyword: 1, Display: display.Pieces{Keyword: []byte("{")}}}
	for name, bad := range map[string]*scripted{
		"no connection":  {err: refused},
		"busy":           {err: overloaded},
		"an old view":    {err: stale},
		"a defect":       {err: errors.New("a defect")},
		"another slave":  {err: fault.Newf(fault.Conflict, "", "of another slave")},
		"a bad block":    {err: fault.Newf(fault.Corrupt, "", "a bad block")},
		"half of it":     serves(search.Width{Lo: 1 << 63}, 1),
		"nothing":        serves(search.Width{}, 0),
		"damaged pieces": damaged,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := replicated(Concurrent(bad), Concurrent(serves(whole, 7))).first(0)
				n := new(seen)
				began := time.Now()
				a, err := ask(t, New(&listedMaps{list: []*Map{m}}, n), time.Second)
				if err != nil || len(a.Missing) != 0 || a.Width != whole || a.Matched != 7 || a.Shards != 1 || a.Answered != 1 {
					t.Fatalf("%+v, %v", a, err)
				}
				if bad.asked != 1 || n.elsewhere != 1 || n.hedged != 0 || time.Since(began) > 0 {
					t.Errorf("the first was asked %d times, %+v, after %v", bad.asked, n, time.Since(began))
				}
			})
		})
	}
}

// TestTheBestOfBadAnswers: of several incomplete answers the most complete one counts, whichever
// arrives first, including when there is no time for another call.
func TestTheBestOfBadAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		less, more := search.Width{Lo: 1 << 62}, search.Width{Lo: 1 << 63}
		for _, pair := range [][2]search.Width{{less, more}, {more, less}} {
			m := replicated(Concurrent(serves(pair[0], 1)), Concurrent(serves(pair[1], 1))).first(0)
			a, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
			if err != nil || a.Width != more || len(a.Missing) != 1 || a.Missing[0] != (search.Missing{Shard: "s", Reason: search.Behind}) {
				t.Errorf("%v: %+v, %v", pair, a, err)
			}
		}
		late := serves(search.WholeRing(), 1)
		late.after = time.Hour
		m := replicated(Concurrent(serves(less, 1)), Concurrent(late)).first(0)
		a, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
		if err != nil || a.Width != less || len(a.Missing) != 1 || a.Missing[0].Reason != search.Behind {
			t.Errorf("no time for another: %+v, %v", a, err)
		}
	})
}

// TestTheErrorThatSaysMore: the error of a connected replica takes precedence over that of one
// without a connection. If all replicas refuse, the query is refused.
func TestTheErrorThatSaysMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, pair := range [][2]error{{refused, errors.New("a defect")}, {errors.New("a defect"), refused}} {
			m := replicated(Concurrent(&scripted{err: pair[0]}), Concurrent(&scripted{err: pair[1]})).first(0)
			a, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
			if err != nil || len(a.Missing) != 1 || a.Missing[0].Reason != search.Failed {
				t.Errorf("%v: %+v, %v", pair, a, err)
			}
		}
		m := replicated(Concurrent(&scripted{err: overloaded}), Concurrent(&scripted{err: overloaded}))
		if _, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second); !fault.Is(err, fault.Overloaded) {
			t.Errorf("all refuse: %v", err)
		}
	})
}

// TestNoReplicaServesTheView: only if no replica serves the view is everything asked again with a
// newer map. This includes the case that one replica refuses because it has left the set.
func TestNoReplicaServesTheView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foreign := fault.Newf(fault.Conflict, "slave", "a replica of another shard")
		for _, pair := range [][2]error{{stale, stale}, {stale, foreign}, {foreign, stale}} {
			old := replicated(Concurrent(&scripted{err: pair[0]}), Concurrent(&scripted{err: pair[1]})).first(0)
			now := replicated(Concurrent(serves(search.WholeRing(), 3)))
			now.View = 6
			a, err := ask(t, New(&listedMaps{list: []*Map{old, now}}, nil), time.Second)
			if err != nil || a.View != 6 || a.Matched != 3 {
				t.Errorf("%v: %+v, %v", pair, a, err)
			}
		}
	})
}

// opening is a slave whose stream is not up yet, so that asks wait.
type opening struct{ listening }

func (*opening) Up() bool { return false }

// TestAReplicaIsChosenOnceItsStreamIsUp: until a replica's stream is up, others are asked. If no
// replica has a stream, a query waits for one.
func TestAReplicaIsChosenOnceItsStreamIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, good := new(opening), serves(search.WholeRing(), 2)
		f := New(&listedMaps{list: []*Map{replicated(a, Concurrent(good)).first(0)}}, nil)
		for range 100 {
			if answer, err := ask(t, f, time.Second); err != nil || answer.Matched != 2 || a.done() != nil {
				t.Fatalf("%+v, %v", answer, err)
			}
		}
		b := new(opening)
		go func() {
			time.Sleep(time.Second / 2)
			synctest.Wait()
			for _, o := range []*opening{a, b} {
				if done := o.done(); done != nil {
					done(&search.Answer{Width: search.WholeRing(), Matched: 3}, nil)
				}
			}
		}()
		answer, err := ask(t, New(&listedMaps{list: []*Map{replicated(a, b)}}, nil), time.Second)
		if err != nil || answer.Matched != 3 || len(answer.Missing) > 0 {
			t.Errorf("%+v, %v", answer, err)
		}
	})
}

// unconnected is a slave without a connection. Reconnect begins an attempt to connect, for which
// asks wait.
type unconnected struct {
	scripted
	atOnce bool // it refuses before Ask returns
	back   bool // the attempt succeeds
	trying atomic.Bool
	up     atomic.Bool
	tried  atomic.Int64
}

// attempt is how long an attempt to connect takes.
const attempt = 5 * time.Millisecond

func (u *unconnected) Reconnect() {
	u.tried.Add(1)
	u.trying.Store(true)
	time.AfterFunc(attempt, func() { u.up.Store(u.back); u.trying.Store(false) })
}

func (u *unconnected) Ask(ctx context.Context, r *wire.Shared, done Done) Pending {
	switch {
	case u.up.Load():
		return Concurrent(&u.scripted).Ask(ctx, r, done)
	case u.trying.Load():
		time.AfterFunc(attempt+1, func() { u.Ask(ctx, r, done) })
	case u.atOnce:
		done(nil, refused)
	default:
		go done(nil, refused)
	}
	return nil
}

// TestAReplicaThatIsBackIsReached: one replica has just died, and the other one is back but not
// connected to the master yet. The first query is answered.
func TestAReplicaThatIsBackIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n := range 4 {
			i, atOnce := n%2, n >= 2
			dead, back := &unconnected{atOnce: atOnce}, &unconnected{back: true, atOnce: atOnce}
			back.answer = search.Answer{Width: search.WholeRing(), Matched: 7, Shards: 1, Answered: 1}
			m := replicated(dead, back).first(i)
			m.Shards[0].Replicas[1].Known.Eject(0)
			a, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
			if err != nil || len(a.Missing) != 0 || a.Matched != 7 {
				t.Errorf("first %d, at once %v: %+v, %v", i, atOnce, a, err)
			}
		}
	})
}

// TestADeadShardIsSoonGivenUp: if no replica comes back, few queries wait, and only for a moment.
func TestADeadShardIsSoonGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := new(unconnected), new(unconnected)
		n := new(seen)
		f := New(&listedMaps{list: []*Map{replicated(a, b)}}, n)
		const queries = 1000
		waited := 0
		for range queries {
			began := time.Now()
			answer, err := ask(t, f, time.Second)
			if err != nil || len(answer.Missing) != 1 || answer.Missing[0].Reason != search.Unreachable {
				t.Fatalf("%+v, %v", answer, err)
			}
			switch took := time.Since(began); {
			case took > 2*tickEvery:
				t.Fatalf("a query took %v", took)
			case took > 0:
				waited++
			}
		}
		if most := queries/10 + 20; waited == 0 || waited > most || a.tried.Load() != int64(waited) || n.elsewhere > most {
			t.Errorf("%d of %d queries waited, %d attempts to connect, %d asked elsewhere", waited, queries, a.tried.Load(), n.elsewhere)
		}
	})
}

// listening is a slave for which the test answers, over a stream that may carry tags.
type listening struct {
	manual
	tags search.Tags
}

func (l *listening) Ask(ctx context.Context, r *wire.Shared, done Done) Pending {
	l.tags = r.Request().Tags
	l.manual.Ask(ctx, r, done)
	return l
}

// TestHedge: if a call takes longer than most, a second replica is asked, with the call marked as a
// hedge. The first answer counts, and the other call is given up.
func TestHedge(t *testing.T) {
	whole := &search.Answer{Width: search.WholeRing(), Matched: 1}
	other := &search.Answer{Width: search.WholeRing(), Matched: 2}
	for name, c := range map[string]struct {
		first   bool // the answer of the first replica comes first
		crossed bool // and the other one's just after it
		want    uint64
	}{"the hedge wins": {false, false, 2}, "the hedge loses": {true, false, 1},
		"it wins by a little": {false, true, 2}, "it loses by a little": {true, true, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := new(listening), new(listening)
				m := replicated(a, b).first(0)
				n := new(seen)
				after := m.Shards[0].Choice.HedgeAfter()
				go func() {
					time.Sleep(after - time.Millisecond)
					synctest.Wait()
					if a.done() == nil || b.done() != nil {
						t.Error("hedged before its time, or the wrong one is asked")
					}
					time.Sleep(2 * time.Millisecond)
					synctest.Wait()
					if b.done() == nil || !b.tags.Hedge || a.tags.Hedge {
						t.Errorf("hedged: %v, marked: %v", b.done() != nil, b.tags)
					}
					winner, loser := b, a
					if c.first {
						winner, loser = a, b
					}
					winner.done()(map[bool]*search.Answer{true: whole, false: other}[c.first], nil)
					if c.crossed {
						loser.done()(map[bool]*search.Answer{true: other, false: whole}[c.first], nil)
					}
					synctest.Wait()
					loser.done()(other, nil)
				}()
				answer, err := ask(t, New(&listedMaps{list: []*Map{m}}, n), time.Second)
				if err != nil || answer.Matched != c.want || answer.Answered != 0 || n.hedged != 1 || n.won == 1 == c.first || n.failed > 0 {
					t.Fatalf("%+v, %v, %+v", answer, err, n)
				}
				loser := a
				if c.first {
					loser = b
				}
				if c.crossed {
					return
				}
				if len(a.gaveUp)+len(b.gaveUp) != 1 || len(loser.gaveUp) != 1 || !errors.Is(loser.gaveUp[0], context.Canceled) {
					t.Errorf("given up: a %v, b %v", a.gaveUp, b.gaveUp)
				}
			})
		})
	}
}

// TestHedgesHaveABudget: when all replicas are slow, few queries are asked twice, and the observer
// is told that the budget is used up.
func TestHedgesHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := serves(search.WholeRing(), 1), serves(search.WholeRing(), 1)
		a.after, b.after = 200*time.Millisecond, 200*time.Millisecond
		m := replicated(Concurrent(a), Concurrent(b))
		n := new(seen)
		const rate, seconds = 500, 10
		r := load(t.Context(), New(&listedMaps{list: []*Map{m}}, n), rate, seconds*time.Second)
		if r.complete != r.ended {
			t.Errorf("%+v", r)
		}
		if most := r.ended + r.ended/20 + 10; a.asked+b.asked > most || a.hedges+b.hedges != n.hedged {
			t.Errorf("%d calls of %d queries, %d hedges, %d of them marked", a.asked+b.asked, r.ended, n.hedged, a.hedges+b.hedges)
		}
		if !slices.Contains(n.usedUp, "hedge") {
			t.Error("nobody learns that the budget is used up")
		}
	})
}

// TestAHungReplicaIsNotFelt: at 800 queries a second with two replicas, all answers are complete
// and fast before and after the hang is detected. The hung replica is probed, and asked again when
// it continues.
func TestAHungReplicaIsNotFelt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, k := &hanging{part: part{keywords: []uint64{1, 2, 3, 4, 5, 6, 7, 8}}}, &hanging{part: part{keywords: []uint64{1, 2, 3, 4, 5, 6, 7, 8}}}
		m := replicated(Concurrent(h), Concurrent(k))
		n := new(noted)
		f := New(&listedMaps{list: []*Map{m}}, n)
		ctx, end := looked(t, f)
		defer end()
		const rate = 800
		if r := load(ctx, f, rate, time.Second); r.complete != r.ended || h.asked.Load() < 200 || k.asked.Load() < 200 {
			t.Fatalf("healthy: %+v, asked %d and %d", r, h.asked.Load(), k.asked.Load())
		}
		h.hang()
		if r := load(ctx, f, rate, 2*time.Second); r.complete != r.ended || r.slowest > 100*time.Millisecond {
			t.Errorf("while it is found out: %+v", r)
		}
		if r := load(ctx, f, rate, 5*time.Second); r.complete != r.ended || r.slowest > 10*time.Millisecond {
			t.Errorf("left out: %+v", r)
		}
		h.goOn()
		time.Sleep(time.Second)
		was := h.asked.Load()
		if r := load(ctx, f, rate, 5*time.Second); r.complete != r.ended || h.asked.Load()-was < rate {
			t.Errorf("afterwards: %+v, asked %d times", r, h.asked.Load()-was)
		}
		end()
		if !slices.Equal(n.out, []string{"a ", "b ", "a silent", "a "}) {
			t.Errorf("told %q", n.out)
		}
	})
}

// TestCallsAtASilentReplicaAreAskedAgain: explanations are not hedged. All of those that are
// waiting when their replica is found to be silent are sent to another one.
func TestCallsAtASilentReplicaAreAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung, good := serves(search.WholeRing(), 1), serves(search.WholeRing(), 2)
		hung.after = time.Hour
		m := replicated(Concurrent(hung), Concurrent(good)).first(0)
		f := New(&listedMaps{list: []*Map{m}}, nil)
		_, end := looked(t, f)
		defer end()
		var all sync.WaitGroup
		for range 100 { // many more than a budget allows
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				e, err := f.Explain(ctx, &search.Request{}, 5)
				if err != nil || e.Total != 2 || len(e.Missing) != 0 {
					t.Errorf("%+v, %v", e, err)
				}
			})
		}
		all.Wait()
		end()
	})
}

// TestACallThatCouldNotBeReplaced: both replicas were ejected when the cluster was filled, and the
// budget is used up, so no other replica is asked while the call to one of them waits. When that
// call finds no connection, the other replica is asked.
func TestACallThatCouldNotBeReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone, good := serves(search.WholeRing(), 1), serves(search.WholeRing(), 2)
		gone.after, gone.err = 10*tickEvery, refused
		m := replicated(Concurrent(gone), Concurrent(good)).first(0)
		set := m.Shards[0].Choice
		for i := range set.Len() {
			set.Again(choice.Asked(0).With(1-i), true, choice.Call{})
			set.Ended(i, 0, 0, choice.Short)
		}
		for set.OnceMore() {
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		a, err := New(&listedMaps{list: []*Map{m}}, nil).Search(ctx, &search.Request{Query: new(search.Query), Slots: 3})
		if err != nil || a.Matched != 2 || len(a.Missing) != 0 {
			t.Errorf("%+v, %v; asked %d and %d times", a, err, gone.times(), good.times())
		}
	})
}

// TestAnEjectedReplicaComesBack: a replica whose calls fail is not asked again until a probe of it
// succeeds. The last remaining replica is asked although it fails.
func TestAnEjectedReplicaComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, good := serves(search.WholeRing(), 1), serves(search.WholeRing(), 2)
		bad.err = refused
		m := replicated(Concurrent(bad), Concurrent(good)).first(0)
		n := new(noted)
		f := New(&listedMaps{list: []*Map{m}}, n)
		ctx, end := looked(t, f)
		defer end()
		time.Sleep(2 * tickEvery)
		if r := load(ctx, f, 100, 10*time.Second); r.complete != r.ended || bad.times() > 110 { // by probes mostly
			t.Errorf("%+v, the one without a connection was asked %d times", r, bad.times())
		}
		bad.mu.Lock()
		bad.err = nil
		bad.mu.Unlock()
		time.Sleep(6 * time.Second)
		was := bad.times()
		if load(ctx, f, 100, 10*time.Second); bad.times() == was {
			t.Error("it is not asked again")
		}
		end()
		if !slices.Equal(n.out, []string{"a ", "b ", "a ejected", "a "}) {
			t.Errorf("told %q", n.out)
		}
	})
}

// TestWhatSomeReplicaCanAnswerIsComplete: whatever the replicas do, the answer is complete if one
// replica of each shard answers. Each shard counts once.
func TestWhatSomeReplicaCanAnswerIsComplete(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "shards")
		m := &Map{Epoch: 1, View: 5}
		all, lo := true, uint64(0)
		for i := range n {
			hi := ^uint64(0)
			if i < n-1 {
				hi = hi / uint64(n) * uint64(i+1)
			}
			width := search.IntervalWidth(lo, hi)
			lo = hi + 1
			var list []Replica
			some := false
			for k := range rapid.IntRange(1, 4).Draw(rt, "replicas") {
				s := serves(width, 1)
				s.after = time.Duration(rapid.IntRange(0, 20).Draw(rt, "ms")) * time.Millisecond
				switch rapid.IntRange(0, 6).Draw(rt, "fate") {
				case 0:
					s.err = refused
				case 1:
					s.err = overloaded
				case 2:
					s.err = stale
				case 3:
					s.answer.Width = search.Width{Lo: 5}
				case 4:
					s.after = time.Hour
				default:
					some = true
				}
				list = append(list, NewReplica(fmt.Sprint("slave-", i, "-", k), Concurrent(s)))
			}
			all = all && some
			m.Shards = append(m.Shards, NewShard(fmt.Sprint("shard-", i), width, choice.NewShard(), list...))
		}
		synctest.Test(t, func(t *testing.T) {
			f := New(&listedMaps{list: []*Map{m}}, nil)
			run, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); _ = f.Run(run, slog.New(slog.DiscardHandler)) }()
			a, err := ask(t, f, 2*time.Second)
			cancel()
			<-done
			switch {
			case fault.Is(err, fault.Overloaded) && !all:
			case err != nil:
				rt.Fatal(err)
			case all != (a.Width == search.WholeRing()) || all != (len(a.Missing) == 0):
				rt.Fatalf("some replica of each shard answers: %v; %+v", all, a)
			case a.Matched > uint64(n):
				rt.Fatalf("%d answers of %d shards", a.Matched, n)
			}
		})
	})
}
