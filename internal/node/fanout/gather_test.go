package fanout

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/search"
)

var (
	stale      = fault.Newf(fault.Stale, "slave", "view 1 is over")
	overloaded = fault.Newf(fault.Overloaded, "slave", "busy")
)

// reply is the reply of a shard.
type reply struct {
	shard int
	err   error // nil if it answers
}

// gathered asks `n` shards, which reply in the order of `list`, each a millisecond after the
// previous one, and then not any more. It returns the answer, how often a newer map was requested,
// and after how many replies the query ended.
func gathered(t *testing.T, n int, list []reply) (a *search.Answer, seen counted, replies int, err error) {
	var slaves []*manual
	m := &Map{Epoch: 1, View: 5}
	for i := range n {
		s := new(manual)
		slaves, m.Shards = append(slaves, s), append(m.Shards, single(fmt.Sprint(i), s))
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for _, r := range list {
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
			}
			answer := &search.Answer{Width: search.Width{Lo: 1}, Answered: 1}
			if r.err != nil {
				answer = nil
			}
			replies++
			slaves[r.shard].done()(answer, r.err)
			synctest.Wait()
		}
	}()
	a, err = ask(t, New(&listedMaps{list: []*Map{m}, wait: time.Hour}, &seen), 5*time.Second)
	close(over)
	<-ended
	return a, seen, replies, err
}

// TestWhatIsEnough: a query ends when each shard has answered or failed, or at its deadline. Each
// shard without an answer is missing. A reply that arrives twice counts once.
func TestWhatIsEnough(t *testing.T) {
	for name, c := range map[string]struct {
		list    []reply
		replies int // until it ends
		retried int
		missing []string
		err     fault.Kind // Internal if there is none
	}{
		"all answer":               {[]reply{{2, nil}, {0, nil}, {1, nil}}, 3, 0, nil, 0},
		"one fails":                {[]reply{{1, errors.New("x")}, {0, nil}, {2, nil}}, 3, 0, []string{"1"}, 0},
		"too late":                 {[]reply{{1, nil}}, 1, 0, []string{"0", "2"}, 0},
		"twice counts once":        {[]reply{{1, nil}, {1, nil}, {1, errors.New("x")}}, 3, 0, []string{"0", "2"}, 0},
		"no longer served":         {[]reply{{0, stale}, {1, stale}, {2, nil}}, 3, 1, []string{"0", "1"}, 0},
		"all refuse":               {[]reply{{0, overloaded}, {1, overloaded}, {2, overloaded}}, 3, 0, nil, fault.Overloaded},
		"one refuses":              {[]reply{{0, overloaded}, {1, nil}, {2, nil}}, 3, 0, []string{"0"}, 0},
		"all fail, not all refuse": {[]reply{{0, overloaded}, {1, stale}, {2, overloaded}}, 3, 1, []string{"0", "1", "2"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, seen, replies, err := gathered(t, 3, c.list)
				if fault.KindOf(err) != c.err {
					t.Fatalf("error %v, want kind %s", err, c.err)
				}
				if replies != c.replies || seen.retried != c.retried {
					t.Errorf("ended after %d replies, asked again %d times", replies, seen.retried)
				}
				if a != nil && (!slices.Equal(missingOf(a), c.missing) || a.Answered != 3-len(c.missing)) {
					t.Errorf("%+v, want %v missing", a, c.missing)
				}
			})
		})
	}
}

// missingOf returns the names of the missing shards, except those that are missing only because the
// widths do not add up.
func missingOf(a *search.Answer) (list []string) {
	for _, m := range a.Missing {
		if m.Reason != search.Behind {
			list = append(list, m.Shard)
		}
	}
	return list
}

// TestQueriesEnd: in any order of replies, the query ends with the last one at the latest, and each
// shard has either answered or is missing.
func TestQueriesEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "shards")
		var list []reply
		answered, anyStale := 0, 0
		for _, i := range rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})).Draw(rt, "order") {
			err := rapid.SampledFrom([]error{nil, stale, overloaded}).Draw(rt, "reply")
			switch err {
			case nil:
				answered++
			case stale:
				anyStale = 1
			}
			list = append(list, reply{i, err})
		}
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			a, seen, replies, err := gathered(t, n, list)
			switch {
			case replies != n || seen.retried != anyStale || anyStale == 0 && time.Since(began) != time.Duration(n)*time.Millisecond:
				rt.Fatalf("%d replies of %d, asked again %d times, after %v", replies, n, seen.retried, time.Since(began))
			case err != nil && (answered > 0 || anyStale > 0 || !fault.Is(err, fault.Overloaded)):
				rt.Fatal(err)
			case err == nil && (a.Answered != answered || len(missingOf(a)) != n-answered):
				rt.Fatalf("%d of %d answered: %+v", answered, n, a)
			}
		})
	})
}
