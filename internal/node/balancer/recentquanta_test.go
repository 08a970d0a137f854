package balancer

import (
	"testing"

	"pgregory.net/rapid"

	"adshard/balance"
)

// TestRing: for a number that is known, it returns exactly the quanta that follow.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r recentQuanta
		first := rapid.Uint64Range(1, 5).Draw(t, "first")
		least := first // the number from which all quanta are kept
		for n := range rapid.Uint64Range(0, 3*recentQuantaSize).Draw(t, "quanta") {
			q := balance.Quantum{Number: first + n, Clock: n}
			if n == 0 || rapid.IntRange(0, 400).Draw(t, "whole") == 0 {
				q.Model, _ = balance.NewModel([]balance.Shard{{Name: "a"}})
				least = q.Number
			}
			r.add(q)
		}
		newest := r.newest
		after := rapid.Uint64Range(0, first+3*recentQuantaSize+2).Draw(t, "after")
		list, ok := r.after(after)
		want := newest > 0 && after >= least && after > 0 && after <= newest && newest-after <= recentQuantaSize
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
