package choice

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func replicas(n int) (list []*Replica) {
	for i := range n {
		list = append(list, NewReplica(fmt.Sprint("slave-", i)))
	}
	return list
}

// silence makes a replica silent.
func silence(r *Replica) {
	r.Asked(0, 1)
	for now := time.Second; !r.Silent(); now += tickEvery {
		r.Tick(now)
	}
}

// TestChoice compares with a simple but slow rule, whatever the state of the replicas. The chosen
// replica is in and was not asked yet, unless there is none like that. It is not silent. With a
// topic it is the topic's own replica, unless that has too much to do; otherwise it is not the
// worst one.
func TestChoice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "replicas")
		list := replicas(n)
		s := NewSet(NewShard(), list)
		now := time.Minute
		var open, in []int
		var asked Asked
		for i, r := range list {
			r.pending, r.heard = rapid.IntRange(0, 5).Draw(t, "pending"), now
			r.time.observe(now, time.Duration(rapid.IntRange(1, 1000).Draw(t, "time"))*time.Millisecond)
			gone, ejected := rapid.IntRange(0, 4).Draw(t, "silent") == 0, rapid.IntRange(0, 3).Draw(t, "ejected") == 0
			if gone {
				silence(r)
			}
			if ejected {
				r.Eject(now)
			}
			if i > 0 && rapid.IntRange(0, 3).Draw(t, "asked") == 0 {
				asked = asked.With(i)
			}
			if !gone && !asked.Has(i) {
				open = append(open, i)
				if !ejected {
					in = append(in, i)
				}
			}
		}
		if len(in) > 0 {
			open = in
		}
		c := Call{Now: now, Topic: rapid.Uint64Range(0, 5).Draw(t, "topic"), Random: rapid.Uint64().Draw(t, "random")}
		costs := make([]time.Duration, n)
		for i, r := range list {
			costs[i] = r.cost(now)
		}
		var got int
		if asked == 0 {
			got = s.First(c)
		} else {
			c.Topic = 0
			got, _ = s.Again(asked, true, c)
		}
		if len(open) == 0 {
			all := !slices.ContainsFunc(list, func(r *Replica) bool { return !r.Silent() })
			if hope := all && asked != 1<<n-1; hope != (got != None) || hope && asked.Has(got) {
				t.Fatalf("%d is asked, %b were; all are silent: %v", got, asked, all)
			}
			return
		}
		if !slices.Contains(open, got) {
			t.Fatalf("%d is asked of %v", got, open)
		}
		slices.SortFunc(open, func(a, b int) int { return cmp.Compare(costs[a], costs[b]) })
		own := slices.MaxFunc(open, func(a, b int) int { return cmp.Compare(list[a].rank(c.Topic), list[b].rank(c.Topic)) })
		if preferred := c.Topic != 0 && costs[own] <= affinity*costs[open[0]]; preferred {
			if got != own {
				t.Fatalf("%d is asked, the topic's own is %d", got, own)
			}
			return
		}
		worst := open[len(open)-1]
		if got == worst && len(open) > 1 && costs[open[len(open)-2]] < costs[worst] {
			t.Fatalf("%d is asked, which has the most to do: %v", got, costs)
		}
	})
}

// TestOneWithoutAConnectionIsAskedLast: while all replicas are ejected, one of them because of a
// single incomplete answer, those without a connection are asked last. No budget is then spent on
// asking another replica in their place.
func TestOneWithoutAConnectionIsAskedLast(t *testing.T) {
	list := replicas(3)
	s := NewSet(NewShard(), list)
	for i, o := range []Outcome{Broken, Short, Broken} {
		list[i].begin(0, time.Second)
		if !s.Ended(i, 1, 1, o) {
			t.Fatal("not ejected")
		}
	}
	now := time.Duration(1)
	for range 1000 {
		now += time.Millisecond
		i := s.First(Call{Now: now, Topic: uint64(now), Random: uint64(now) * 0x9e3779b97f4a7c15})
		if i != 1 {
			t.Fatalf("%d is asked", i)
		}
		s.Ended(i, now, time.Millisecond, Short)
	}
	asked := Asked(0).With(1)
	for range 2 { // they may have recovered
		i, _ := s.Again(asked, true, Call{Now: now})
		if i == None || asked.Has(i) {
			t.Fatalf("after %b, %d is asked", asked, i)
		}
		asked = asked.With(i)
	}
}

// TestTheOneThatAnswersIsAskedInPlace: a replica that answers is asked in place of one whose
// connection has just broken, although both were ejected and the budget is used up. While a cluster
// is being filled, all answers are incomplete for a while.
func TestTheOneThatAnswersIsAskedInPlace(t *testing.T) {
	list := replicas(2)
	s := NewSet(NewShard(), list)
	for s.OnceMore() {
	}
	for i, r := range list {
		r.begin(0, time.Second)
		s.Ended(i, 1, 1, Short)
	}
	for i := range list {
		asked := Asked(0).With(i)
		if r, spent := s.Again(asked, true, Call{Now: 2}); r != None || !spent {
			t.Fatalf("%d is asked in place of one that answers too", r)
		}
	}
	list[1].begin(2, time.Second)
	if free := s.Ended(1, 3, 1, Broken); !free {
		t.Fatal("not ejected")
	}
	if r, spent := s.Again(Asked(0).With(1), true, Call{Now: 4}); r != 0 || spent {
		t.Errorf("%d is asked in place of the one without a connection, the budget is in the way: %v", r, spent)
	}
	s.Ended(0, 5, 5, Full) // begun before it failed
	list[0].Tick(6)
	list[0].Tick(6 + probePause)
	list[0].Probed(7+probePause, Broken)
	if list[0].standing() != broken || list[1].standing() != broken {
		t.Error("a probe finds no connection, and nobody notes it")
	}
}

// TestTopicsKeepTheirReplica: if a replica is removed, its topics go to other replicas and no other
// topic moves. Topics are spread evenly.
func TestTopicsKeepTheirReplica(t *testing.T) {
	const n, topics = 4, 4000
	list := replicas(n)
	all, without := NewSet(NewShard(), list), NewSet(NewShard(), list[:n-1])
	for _, r := range list {
		r.time.observe(time.Minute, time.Millisecond)
	}
	counts := make([]int, n)
	for topic := uint64(1); topic <= topics; topic++ {
		c := Call{Now: time.Minute, Topic: topic}
		own := all.First(c)
		all.Ended(own, time.Minute, time.Millisecond, Full)
		rest := without.First(c)
		without.Ended(rest, time.Minute, time.Millisecond, Full)
		counts[own]++
		if own < n-1 && rest != own {
			t.Fatalf("topic %d went from %d to %d, which both stay", topic, own, rest)
		}
	}
	for i, c := range counts {
		if c < topics/n*8/10 || c > topics/n*12/10 {
			t.Errorf("replica %d has %d of %d topics", i, c, topics)
		}
	}
}

// TestOneReplica: a single replica is always asked, once, unless it is silent.
func TestOneReplica(t *testing.T) {
	s := NewSet(NewShard(), replicas(1))
	for range 100 {
		if i := s.First(Call{}); i != 0 {
			t.Fatalf("%d is asked", i)
		}
		if s.Ended(0, 1, 1, Broken) {
			t.Fatal("the only replica is ejected")
		}
		if i, spent := s.Again(Asked(0).With(0), true, Call{}); i != None || spent {
			t.Fatalf("again: %d", i)
		}
	}
	silence(s.Replica(0))
	if i := s.First(Call{}); i != None {
		t.Errorf("%d is asked, which is silent", i)
	}
}

// TestAllAreSilent: if all replicas are silent, the one that replied last is asked, by a few calls
// at a time.
func TestAllAreSilent(t *testing.T) {
	s := NewSet(NewShard(), replicas(3))
	for i, r := range s.replicas {
		r.begin(0, time.Hour)
		s.Ended(i, time.Duration(i%2), 1, Full)
		silence(r)
	}
	for range blind {
		if i := s.First(Call{}); i != 1 {
			t.Fatalf("%d is asked", i)
		}
	}
	for range 2 * blind {
		if i := s.First(Call{}); i != 0 && i != 2 {
			t.Fatalf("%d is asked", i)
		}
	}
	if i := s.First(Call{}); i != None {
		t.Errorf("%d is asked", i)
	}
	s.Ended(1, 1, 1, GaveUp)
	if i := s.First(Call{}); i != 1 {
		t.Errorf("%d is asked when there is room again", i)
	}
}

// TestEjection: which outcomes eject a replica, and that a probe takes it back, after a longer time
// on each ejection.
func TestEjection(t *testing.T) {
	for name, c := range map[string]struct {
		outcome Outcome
		after   int // 0 if never
	}{
		"broken": {Broken, 1}, "short": {Short, 1}, "failed": {Failed, 3}, "outdated": {Outdated, 3},
		"lagging": {Lagging, 0}, "refused": {Refused, 0}, "given up": {GaveUp, 0}, "full": {Full, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSet(NewShard(), replicas(2))
			for n := 1; n <= 10; n++ {
				s.replicas[0].begin(0, time.Hour)
				if ejected := s.Ended(0, 0, 1, c.outcome); ejected != (c.after > 0 && n >= c.after) {
					t.Fatalf("after %d: ejected %v", n, ejected)
				}
			}
			if c.after == 0 {
				return
			}
			if i := s.First(Call{}); i != 1 {
				t.Errorf("%d is asked", i)
			}
			if i, _ := s.Again(Asked(0).With(1), false, Call{}); i != 0 {
				t.Errorf("%d is asked, not the only other one", i)
			}
		})
	}
	var w watched
	last := time.Duration(0)
	for range 8 {
		w.Eject(w.now)
		began := w.now
		for !w.probing {
			w.pass(tickEvery)
		}
		w.Probed(w.now, Short)
		if w.In() {
			t.Fatal("taken back after a probe that shows less than its part")
		}
		for !w.probing {
			w.pass(tickEvery)
		}
		w.Probed(w.now, Lagging)
		if !w.In() {
			t.Fatal("not taken back")
		}
		away := w.now - began
		if away <= last && away < longestPause {
			t.Errorf("away for %v after %v", away, last)
		}
		last = away
	}
	w.pass(2 * longestPause)
	w.Eject(w.now)
	began := w.now
	for !w.probing {
		w.pass(tickEvery)
	}
	if pause := w.now - began; pause > 2*probePause {
		t.Errorf("probed after %v, though it was in for long", pause)
	}
	w.Eject(w.now + 1) // while the probe is in progress
	if w.Probed(w.now+2, Full); w.In() {
		t.Error("taken back by a probe from before it was ejected")
	}
}

// TestAnEjectedReplicaThatServesIsTakenBack: an ejected replica that is asked because no other
// replica is in can be taken back by these calls before a probe. The more often it fails
// afterwards, the more such calls are needed. Calls from before its failure do not count.
func TestAnEjectedReplicaThatServesIsTakenBack(t *testing.T) {
	s := NewSet(NewShard(), replicas(2))
	r, now := s.replicas[0], time.Second
	end := func(took time.Duration, o Outcome) {
		r.begin(now-took, time.Hour)
		s.Ended(0, now, took, o)
		now += time.Millisecond
		r.Tick(now)
	}
	last := 0
	for turn := range 8 {
		end(1, Short)
		if r.In() {
			t.Fatal("not ejected")
		}
		began := now
		end(100*time.Millisecond, Full)
		if end(0, Full); r.In() {
			t.Fatal("taken back by calls of which it is not known that they began later")
		}
		calls := 0
		for ; !r.In() && calls < 100; calls++ {
			end(1, Full)
		}
		if !r.In() || calls < last || turn > 0 && calls == 1 || now-began > probePause {
			t.Errorf("taken back after %d calls and %v, the time before after %d", calls, now-began, last)
		}
		last = calls
	}
	end(1, Short)
	for range 3 * last {
		for range last - 1 {
			end(1, Full)
		}
		if end(1, Failed); r.In() {
			t.Fatal("taken back though its calls fail now and then")
		}
	}
}

// TestPoisonIsBounded: queries that make every replica fail are not repeated without end, and
// replicas that all fail are still asked.
func TestPoisonIsBounded(t *testing.T) {
	s := NewSet(NewShard(), replicas(3))
	const queries = 1000
	calls := 0
	for range queries {
		var asked Asked
		for i := s.First(Call{}); i != None; {
			calls++
			asked = asked.With(i)
			ejected := s.Ended(i, 0, 1, Short)
			i, _ = s.Again(asked, ejected, Call{})
		}
		if asked == 0 {
			t.Fatal("nobody is asked")
		}
	}
	if most := int(queries*(1+againShare)) + againBurst + 3; calls > most {
		t.Errorf("%d calls of %d queries, want at most %d", calls, queries, most)
	}
}

// TestAWaitIsATime: a replica with calls in progress is assumed to need at least the time since its
// last reply. Without calls, it is assumed to need its previous time.
func TestAWaitIsATime(t *testing.T) {
	s := NewSet(NewShard(), replicas(2))
	for i := range 2 {
		s.replicas[i].begin(0, time.Hour)
		s.Ended(i, 0, 2*time.Millisecond, Full)
	}
	s.replicas[0].begin(0, time.Hour)
	at := 500 * time.Millisecond
	if c := s.replicas[0].cost(at); c != 2*at {
		t.Errorf("a further call costs %v after %v of silence", c, at)
	}
	s.Ended(0, at, at, GaveUp)
	if c := s.replicas[0].cost(at); c != at {
		t.Errorf("a call costs %v when one was given up after %v", c, at)
	}
}

// TestHedgesAreFew: hedges are limited to a burst and one of twenty calls.
func TestHedgesAreFew(t *testing.T) {
	s := NewSet(NewShard(), replicas(2))
	hedges, usedUp := 0, 0
	const calls = 1000
	for range calls {
		i := s.First(Call{})
		h, spent := s.Hedge(Asked(0).With(i), Call{Waited: time.Hour})
		if spent {
			usedUp++
		}
		if h != None {
			hedges++
			s.Ended(h, 0, time.Millisecond, Needless)
		}
		s.Ended(i, 0, time.Millisecond, Full)
	}
	if most := hedgeBurst + calls/20 + 1; hedges > most || hedges < most-2 || hedges+usedUp != calls {
		t.Errorf("%d hedges of %d calls, %d times the budget was used up", hedges, calls, usedUp)
	}
	s.Replica(1).Eject(0)
	if i, spent := s.Hedge(Asked(0).With(0), Call{Waited: time.Hour}); i != None || spent {
		t.Errorf("%d is asked beside, which is ejected", i)
	}
}

// TestWorthAHedge: a replica that has just stalled, as all replicas do at times, is worth a hedge
// if it gets many calls. A replica is not worth one if its calls all take long, if they lose to
// hedges, or if it has just refused a call.
func TestWorthAHedge(t *testing.T) {
	const usual, stall, often = 100 * time.Microsecond, 20 * time.Millisecond, 4 * time.Millisecond
	stalls := func(every int) func(int) (time.Duration, Outcome) {
		return func(i int) (time.Duration, Outcome) {
			if (i+1)%every == 0 {
				return stall, Full
			}
			return usual, Full
		}
	}
	ends := func(took time.Duration, last Outcome) func(int) (time.Duration, Outcome) {
		return func(i int) (time.Duration, Outcome) {
			if i < 390 {
				return usual, Full
			}
			return took, last
		}
	}
	for _, c := range []struct {
		name    string
		between time.Duration
		call    func(i int) (took time.Duration, o Outcome)
		want    int
	}{
		{"one in a hundred stalls", often, stalls(100), 1},
		{"one in a hundred stalls, one call a second", time.Second, stalls(100), None},
		{"all stall", often, stalls(1), None},
		{"the last are beaten", often, ends(1100*time.Microsecond, Beaten), None},
		{"the last are refused", often, ends(usual, Refused), None},
	} {
		s, now := NewSet(NewShard(), replicas(2)), time.Duration(0)
		for i := range 400 {
			took, o := c.call(i)
			now += c.between
			s.replicas[1].begin(now, 0)
			s.Ended(1, now+took, took, o)
		}
		if i, spent := s.Hedge(Asked(0).With(0), Call{Now: now + stall, Waited: time.Millisecond}); i != c.want || spent {
			t.Errorf("%s: %d is asked beside, wanted %d; the budget is used up: %v", c.name, i, c.want, spent)
		}
	}
}

// TestASilentOneIsNotAskedInPlaceOfAnother: a silent replica is not asked in place of another one
// while a replica is left that is not silent.
func TestASilentOneIsNotAskedInPlaceOfAnother(t *testing.T) {
	list := replicas(3)
	s := NewSet(NewShard(), list)
	list[2].silent.Store(true)
	asked := Asked(0).With(0).With(1)
	if i, spent := s.Again(asked, true, Call{Now: 1, Patience: time.Second}); i != None || spent {
		t.Errorf("%d is asked, the budget is used up: %v", i, spent)
	}
	if i, _ := s.Again(Asked(0).With(0), true, Call{Now: 1, Patience: time.Second}); i != 1 {
		t.Errorf("%d is asked, though 1 is in", i)
	}
}
