package node

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/fault"
)

func TestSuppliersShareTheSlaves(t *testing.T) {
	now := time.Now()
	s := make(suppliers)
	if _, err := s.of("slave-0", now); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("without a distributor: %v", err)
	}
	where := func() (out [100]string) {
		for i := range out {
			var err error
			if out[i], err = s.of(fmt.Sprint("slave-", i), now); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	for i := range 3 {
		if err := s.heard(fmt.Sprint("d", i), fmt.Sprint("d", i, ":1"), 5, now); err != nil {
			t.Fatal(err)
		}
	}
	before := where()
	counts := map[string]int{}
	for _, at := range before {
		counts[at]++
	}
	for at, n := range counts {
		if n < 15 {
			t.Errorf("%s has %d of 100 slaves", at, n)
		}
	}
	// One falls silent: only its slaves go elsewhere. It returns: they come back.
	now = now.Add(aliveTime)
	for _, i := range []int{0, 2} {
		if err := s.heard(fmt.Sprint("d", i), fmt.Sprint("d", i, ":1"), 9, now); err != nil {
			t.Fatal(err)
		}
	}
	after := where()
	for i := range after {
		if after[i] == "d1:1" || before[i] != "d1:1" && before[i] != after[i] {
			t.Errorf("slave %d went from %s to %s", i, before[i], after[i])
		}
	}
	if got := s.least(100, now); got != 9 {
		t.Errorf("least clock %d", got)
	}
	if err := s.heard("d0", "elsewhere:1", 0, now); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second d0: %v", err)
	}
	if err := s.heard("d1", "elsewhere:1", 0, now); err != nil {
		t.Errorf("d1 at another place: %v", err)
	}
}

// TestRing: whoever asks with a number that is there gets exactly what follows.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring
		first := rapid.Uint64Range(1, 5).Draw(t, "first")
		least := first // numbers from which on all quanta are kept
		for n := range rapid.Uint64Range(0, 3*ringSize).Draw(t, "quanta") {
			q := balance.Quantum{Number: first + n, Clock: n}
			if n == 0 || rapid.IntRange(0, 400).Draw(t, "whole") == 0 {
				q.Model, _ = balance.NewModel([]balance.Node{{Name: "a"}})
				least = q.Number
			}
			r.add(q)
		}
		newest := r.newest
		after := rapid.Uint64Range(0, first+3*ringSize+2).Draw(t, "after")
		list, ok := r.after(after)
		want := newest > 0 && after >= least && after > 0 && after <= newest && newest-after <= ringSize
		if want && !ok {
			t.Fatalf("after %d: refused; kept from %d, newest %d", after, least, newest)
		}
		if ok && (after < least || after > newest) {
			t.Fatalf("after %d: given; kept from %d, newest %d", after, least, newest)
		}
		if !ok {
			return
		}
		for i, q := range list {
			if q.Number != after+uint64(i)+1 {
				t.Fatalf("after %d: number %d at %d", after, q.Number, i)
			}
		}
		if uint64(len(list)) != newest-after {
			t.Fatalf("after %d: %d quanta, the newest is %d", after, len(list), newest)
		}
	})
}
