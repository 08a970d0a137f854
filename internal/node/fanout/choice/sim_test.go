package choice

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// behaviour is how a replica answers a call that begins now. A time of `forever` means that it does
// not answer.
type behaviour func(r *rand.Rand, now time.Duration) (took time.Duration, o Outcome)

const forever = time.Duration(1 << 62)

// about answers after `d`, give or take a half, and sometimes after ten times that.
func about(d time.Duration) behaviour {
	return func(r *rand.Rand, _ time.Duration) (time.Duration, Outcome) {
		took := d/2 + time.Duration(r.Int64N(int64(d)))
		if r.IntN(100) == 0 {
			took *= 10
		}
		return took, Full
	}
}

func hangs(*rand.Rand, time.Duration) (time.Duration, Outcome) { return forever, GaveUp }

// between behaves as `b` from one time until another, and as `a` otherwise.
func between(a, b behaviour, from, until time.Duration) behaviour {
	return func(r *rand.Rand, now time.Duration) (time.Duration, Outcome) {
		if now >= from && now < until {
			return b(r, now)
		}
		return a(r, now)
	}
}

// flapping behaves as `a`, but breaks every other period.
func flapping(a behaviour, period time.Duration) behaviour {
	return func(r *rand.Rand, now time.Duration) (time.Duration, Outcome) {
		if now/period%2 == 1 {
			return 100 * time.Microsecond, Broken
		}
		return a(r, now)
	}
}

func always(d time.Duration, o Outcome) behaviour {
	return func(*rand.Rand, time.Duration) (time.Duration, Outcome) { return d, o }
}

// event is something that happens in a simulation.
type event struct {
	at  time.Duration
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// simulation simulates queries to one shard, from a seed.
type simulation struct {
	now    time.Duration
	seq    int
	queue  events
	random *rand.Rand
	set    *Set
	behave []behaviour

	queries, calls, answered int
	byReplica                []int
	times                    []time.Duration // of answered queries
}

func (s *simulation) after(d time.Duration, do func()) {
	if d < forever {
		s.seq++
		heap.Push(&s.queue, event{s.now + d, s.seq, do})
	}
}

const deadline = 500 * time.Millisecond

// simulated is one query in a simulation.
type simulated struct {
	*simulation
	began time.Duration
	asked Asked
	open  map[int]time.Duration // when each call in progress began
	first int
	over  bool
	hedge bool
}

func (s *simulation) at() Call {
	return Call{Now: s.now, Patience: Patience(deadline), Random: s.random.Uint64()}
}

func (s *simulation) query() {
	q := &simulated{simulation: s, began: s.now, open: make(map[int]time.Duration)}
	s.queries++
	q.first = s.set.First(s.at())
	q.call(q.first)
	s.after(deadline, func() { q.end(false) })
	q.watch()
}

// call begins a call to replica `i`.
func (q *simulated) call(i int) {
	if i == None {
		if len(q.open) == 0 {
			q.end(false)
		}
		return
	}
	began := q.now
	q.asked, q.open[i] = q.asked.With(i), began
	q.calls++
	q.byReplica[i]++
	took, o := q.behave[i](q.random, q.now)
	q.after(took, func() {
		if _, open := q.open[i]; !open {
			return
		}
		delete(q.open, i)
		ejected := q.set.Ended(i, q.now, q.now-began, o)
		if o == Full {
			q.end(true)
			return
		}
		again, _ := q.set.Again(q.asked, ejected, q.at())
		q.call(again)
	})
}

// watch watches the query as the fan-out does.
func (q *simulated) watch() {
	wait := min(tickEvery, max(q.set.HedgeAfter()-(q.now-q.began), time.Microsecond))
	if q.hedge || q.now-q.began >= q.set.HedgeAfter() {
		wait = tickEvery
	}
	q.after(wait, func() {
		if q.over {
			return
		}
		for i := range q.open {
			if !q.set.Replica(i).In() {
				again, _ := q.set.Again(q.asked, true, q.at())
				if again != None {
					q.call(again)
				}
			}
		}
		if !q.hedge && q.now-q.began >= q.set.HedgeAfter() {
			c := q.at()
			c.Waited = q.now - q.began
			if i, _ := q.set.Hedge(q.asked, c); i != None {
				q.hedge = true
				q.call(i)
			}
		}
		q.watch()
	})
}

func (q *simulated) end(answered bool) {
	if q.over {
		return
	}
	q.over = true
	if answered {
		q.answered++
		q.times = append(q.times, q.now-q.began)
	}
	for i, began := range q.open {
		o := GaveUp
		if answered {
			o = Needless
			if i == q.first {
				o = Beaten
			}
		}
		q.set.Ended(i, q.now, q.now-began, o)
	}
	clear(q.open)
}

// tick updates the replicas as the fan-out does.
func (s *simulation) tick() {
	for i, b := range s.behave {
		if r := s.set.Replica(i); r.Tick(s.now) {
			took, o := b(s.random, s.now)
			if took > time.Second {
				took, o = time.Second, GaveUp
			}
			s.after(took, func() { r.Probed(s.now, o) })
		}
	}
	s.after(tickEvery, s.tick)
}

// simulate sends queries at the given rate for the given time.
func simulate(seed uint64, rate int, length time.Duration, replicas int, behave ...behaviour) *simulation {
	s := &simulation{random: rand.New(rand.NewPCG(seed, 1)), behave: behave, byReplica: make([]int, len(behave))}
	var list []*Replica
	for i := range replicas {
		list = append(list, NewReplica(fmt.Sprint("slave-", i)))
	}
	s.set = NewSet(NewShard(), list)
	pause := time.Second / time.Duration(rate)
	var next func()
	next = func() {
		s.query()
		if s.now < length {
			s.after(time.Duration(s.random.ExpFloat64()*float64(pause)), next)
		}
	}
	s.after(0, next)
	s.after(0, s.tick)
	for len(s.queue) > 0 && s.now < length+time.Second {
		e := heap.Pop(&s.queue).(event)
		s.now = e.at
		e.do()
	}
	slices.Sort(s.times)
	return s
}

func (s *simulation) quantile(permille int) time.Duration { return s.times[len(s.times)*permille/1000] }

// seeds calls `f` for several seeds.
func seeds(t *testing.T, f func(t *testing.T, seed uint64)) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { f(t, seed) })
	}
}

const fast = 2 * time.Millisecond

// TestReplicasShareTheLoad: equal replicas get equal shares, and few calls are hedges.
func TestReplicasShareTheLoad(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		s := simulate(seed, 500, 20*time.Second, 3, about(fast), about(fast), about(fast))
		for i, n := range s.byReplica {
			if n < s.calls/5 || n > s.calls/2 {
				t.Errorf("replica %d has %d of %d calls", i, n, s.calls)
			}
		}
		if s.answered != s.queries {
			t.Errorf("%d of %d answered", s.answered, s.queries)
		}
		s.fewCalls(t)
	})
}

// fewCalls checks that hedges and repeated calls stay within their budgets.
func (s *simulation) fewCalls(t *testing.T) {
	t.Helper()
	most := s.queries + int(float64(s.queries)*(hedgeShare+againShare)) + hedgeBurst + againBurst
	if s.calls > most {
		t.Errorf("%d calls of %d queries, want at most %d", s.calls, s.queries, most)
	}
}

// TestASlowReplicaIsSpared: a replica that takes 100 times as long gets very few queries, and those
// that try it are hedged.
func TestASlowReplicaIsSpared(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		s := simulate(seed, 500, 20*time.Second, 2, about(fast), about(100*fast))
		if s.byReplica[1] > s.queries/20 {
			t.Errorf("the slow one has %d of %d calls", s.byReplica[1], s.calls)
		}
		if s.answered != s.queries || s.quantile(980) > 3*fast {
			t.Errorf("%d of %d answered, 98 %% within %v", s.answered, s.queries, s.quantile(980))
		}
		s.fewCalls(t)
	})
}

// TestAReplicaIsTriedAgain: a replica that was slow for a while gets its share again later.
func TestAReplicaIsTriedAgain(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		was := between(about(fast), about(100*fast), 5*time.Second, 10*time.Second)
		s := simulate(seed, 500, 60*time.Second, 2, about(fast), was)
		if s.byReplica[1] < s.calls/4 {
			t.Errorf("the one that was slow has %d of %d calls", s.byReplica[1], s.calls)
		}
	})
}

// TestAHungReplicaCostsNoAnswer: whether a replica hangs from the start or later, every query is
// answered by another one.
func TestAHungReplicaCostsNoAnswer(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		for name, b := range map[string]behaviour{"always": hangs, "later": between(about(fast), hangs, 5*time.Second, 15*time.Second)} {
			s := simulate(seed, 500, 20*time.Second, 2, about(fast), b)
			if s.answered != s.queries || s.quantile(980) > 3*fast {
				t.Errorf("%s: %d of %d answered, 98 %% within %v", name, s.answered, s.queries, s.quantile(980))
			}
			s.fewCalls(t)
		}
	})
}

// TestFlappingReplicas: one replica, or all of them, break and recover once a second or faster.
func TestFlappingReplicas(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		for _, period := range []time.Duration{30 * time.Millisecond, time.Second, 7 * time.Second} {
			s := simulate(seed, 500, 30*time.Second, 2, about(fast), flapping(about(fast), period))
			if s.answered != s.queries {
				t.Errorf("every %v: %d of %d answered", period, s.answered, s.queries)
			}
			s.fewCalls(t)
			s = simulate(seed, 500, 30*time.Second, 3, flapping(about(fast), period), flapping(about(fast), period), flapping(about(fast), period))
			s.fewCalls(t)
			if s.answered < s.queries*4/10 {
				t.Errorf("all, every %v: %d of %d answered", period, s.answered, s.queries)
			}
		}
	})
}

// TestNoStorm: whatever all replicas do at once, there are not many more calls than queries.
func TestNoStorm(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		for name, b := range map[string]behaviour{
			"all slow":                   about(100 * fast),
			"slow all of a sudden":       between(about(fast), about(100*fast), 5*time.Second, time.Hour),
			"all hang":                   hangs,
			"all refuse":                 always(100*time.Microsecond, Refused),
			"all fail":                   always(100*time.Microsecond, Failed),
			"no connection":              always(100*time.Microsecond, Broken),
			"all serve too little":       always(fast, Short),
			"no connection, and so on":   flapping(always(fast, Short), 50*time.Millisecond),
			"overloaded now and again":   between(about(fast), always(100*time.Microsecond, Refused), 5*time.Second, 15*time.Second),
			"all lag":                    always(fast, Lagging),
			"none has the view, or mark": always(fast, Outdated),
		} {
			s := simulate(seed, 500, 20*time.Second, 3, b, b, b)
			t.Log(name, s.calls, "calls of", s.queries)
			s.fewCalls(t)
		}
	})
}

// TestOneRefuses: if one replica refuses, the others take its queries.
func TestOneRefuses(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		s := simulate(seed, 500, 20*time.Second, 2, about(fast), always(100*time.Microsecond, Refused))
		if s.byReplica[1] > s.queries/20 || s.answered < s.queries*999/1000 {
			t.Errorf("the one that refuses has %d of %d calls; %d answered", s.byReplica[1], s.queries, s.answered)
		}
		s.fewCalls(t)
	})
}
