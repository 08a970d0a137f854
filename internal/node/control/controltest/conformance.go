// Package controltest has the conformance suite of package control.
package controltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/control"
)

// Place is a control state that several processes can open.
type Place struct {
	// Open opens the control state as one process does.
	Open func() control.Store
	// Expire ends the lease of a leader that has stopped. If it is nil, the lease ends
	// by itself.
	Expire func()
}

// Factory makes a new, empty control state. Its leases are short.
type Factory func(t *testing.T) Place

// Run tests an implementation.
func Run(t *testing.T, f Factory) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Factory)
	}{
		{"values", testValues},
		{"a value of several megabytes", testLarge},
		{"who leads", testLeader},
		{"a candidate waits for the leader", testWaits},
		{"a leader that stops loses its lease before another one leads", testDisjoint},
		{"a leader that resigns is followed at once", testResign},
		{"a leader that starts again leads at once", testAgain},
		{"a term that was replaced writes nothing", testFenced},
		{"the next epoch is above those reported", testRaise},
		{"one of many candidates", testMany},
		{"random terms", testRandom},
	} {
		t.Run(c.name, func(t *testing.T) { t.Parallel(); c.test(t, f) })
	}
}

// patience bounds all waits.
const patience = time.Minute

// a and b are two candidates.
var (
	a = control.Candidate{Address: "127.0.0.1:7000", Admin: "http://127.0.0.1:7001"}
	b = control.Candidate{Address: "127.0.0.1:8000"}
)

// leads campaigns and keeps the lease until stop is called. stop returns the result of KeepAlive.
func leads(t *testing.T, s control.Store, me control.Candidate) (term control.Term, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	term, err := s.Campaign(ctx, me)
	if err != nil {
		t.Fatalf("%s campaigns: %v", me.Address, err)
	}
	return term, keep(t, term)
}

// keep keeps a lease until stop is called. stop returns the result of KeepAlive.
func keep(t *testing.T, term control.Term) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- term.KeepAlive(ctx, func(error) {}) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = stop() })
	return stop
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that an error is that of a term that was replaced.
func refused(t *testing.T, what string, err error) {
	t.Helper()
	var r *control.Replaced
	if !fault.Is(err, fault.Conflict) || !errors.As(err, &r) {
		t.Errorf("%s: %v", what, err)
	}
}

func value(t *testing.T, term control.Term, key string) string {
	t.Helper()
	v, err := term.Load(t.Context(), key)
	must(t, err)
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", v)
}

func testValues(t *testing.T, f Factory) {
	p := f(t)
	term, _ := leads(t, p.Open(), a)
	if got := value(t, term, "/model"); got != "nothing" {
		t.Errorf("at first: %s", got)
	}
	for _, v := range []string{"one", "", "longer than one", "\x00\xff"} {
		must(t, term.Save(t.Context(), "/model", []byte(v)))
		must(t, term.Save(t.Context(), "/other", []byte("x")))
		if got := value(t, term, "/model"); got != fmt.Sprintf("%q", v) {
			t.Errorf("%s, not %q", got, v)
		}
	}
	if got := value(t, term, "/mode"); got != "nothing" {
		t.Errorf("of a key that is a prefix: %s", got)
	}
	must(t, term.Compact(t.Context(), 1, 0))
}

func testLarge(t *testing.T, f Factory) {
	p := f(t)
	term, _ := leads(t, p.Open(), a)
	for _, size := range []int{5 << 20, 1 << 20, 3<<20 + 1, 10} {
		v := make([]byte, size)
		for i := range v {
			v[i] = byte(i * i >> 8)
		}
		must(t, term.Save(t.Context(), "/model", v))
		got, err := term.Load(t.Context(), "/model")
		if err != nil || string(got) != string(v) {
			t.Fatalf("%d bytes: %d came back, %v", size, len(got), err)
		}
	}
}

func testLeader(t *testing.T, f Factory) {
	p := f(t)
	other := p.Open()
	if l, err := other.Leader(t.Context()); err != nil || l != (control.Leader{}) {
		t.Errorf("at first: %+v, %v", l, err)
	}
	term, _ := leads(t, p.Open(), a)
	if l, err := other.Leader(t.Context()); err != nil || l != (control.Leader{Candidate: a, Epoch: term.Epoch()}) || l.Epoch == 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

func testWaits(t *testing.T, f Factory) {
	p := f(t)
	first, stop := leads(t, p.Open(), a)
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if term, err := p.Open().Campaign(short, b); !fault.Is(err, fault.Deadline) {
		if first.Valid() { // otherwise this machine is too busy to renew a lease in time
			t.Errorf("beside a leader: %v, %v", term, err)
		}
		return
	}
	must(t, first.Save(t.Context(), "/model", []byte("x")))
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("it is kept until %v", err)
	}
}

// testDisjoint tests that the first leader knows that its lease has expired by the time the second
// one leads.
func testDisjoint(t *testing.T, f Factory) {
	p := f(t)
	first, stop := leads(t, p.Open(), a)
	must(t, first.Save(t.Context(), "/model", []byte("of the first")))
	_ = stop() // as if the process had been frozen
	if p.Expire != nil {
		p.Expire()
	}
	second, _ := leads(t, p.Open(), b)
	if first.Valid() {
		t.Error("two leases at once")
	}
	if second.Epoch() <= first.Epoch() {
		t.Errorf("epoch %d after %d", second.Epoch(), first.Epoch())
	}
	if got := value(t, second, "/model"); got != `"of the first"` {
		t.Errorf("it has %s", got)
	}
	if err := first.KeepAlive(t.Context(), func(error) {}); !fault.Is(err, fault.Conflict) || first.Valid() {
		t.Errorf("the first wakes up: %v, valid %v", err, first.Valid())
	}
	if !eventually(second.Valid) {
		t.Error("the second has lost its lease to the first")
	}
}

func eventually(ok func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}

func testResign(t *testing.T, f Factory) {
	p := f(t)
	first, stop := leads(t, p.Open(), a)
	_ = stop()
	must(t, first.Resign(t.Context()))
	if first.Valid() && p.Expire == nil {
		t.Error("it still leads")
	}
	second, _ := leads(t, p.Open(), b)
	refused(t, "save", first.Save(t.Context(), "/model", nil))
	if second.Epoch() <= first.Epoch() {
		t.Errorf("epoch %d after %d", second.Epoch(), first.Epoch())
	}
}

func testAgain(t *testing.T, f Factory) {
	p := f(t)
	first, stop := leads(t, p.Open(), a)
	again, _ := leads(t, p.Open(), a)
	refused(t, "save", first.Save(t.Context(), "/model", nil))
	if again.Epoch() <= first.Epoch() {
		t.Errorf("epoch %d after %d", again.Epoch(), first.Epoch())
	}
	_ = stop()
	taken, err := p.Open().TakeOver(t.Context(), b) // regardless of which balancer leads
	must(t, err)
	refused(t, "save after another one has taken over", again.Save(t.Context(), "/model", nil))
	must(t, taken.Save(t.Context(), "/model", nil))
}

func testFenced(t *testing.T, f Factory) {
	p := f(t)
	first, stop := leads(t, p.Open(), a)
	must(t, first.Save(t.Context(), "/model", []byte("old")))
	second, err := p.Open().TakeOver(t.Context(), b)
	must(t, err)
	ctx := t.Context()
	refused(t, "save", first.Save(ctx, "/model", []byte("late")))
	refused(t, "save a new value", first.Save(ctx, "/new", []byte("late")))
	refused(t, "save a large value", first.Save(ctx, "/model", make([]byte, 4<<20)))
	refused(t, "raise", first.Raise(ctx, 1000))
	refused(t, "compact", first.Compact(ctx, 9, 0))
	if err := first.KeepAlive(ctx, func(error) {}); !fault.Is(err, fault.Conflict) {
		t.Errorf("keep: %v", err)
	}
	if err := first.Resign(ctx); !fault.Is(err, fault.Conflict) {
		t.Errorf("resign: %v", err)
	}
	_ = stop()
	if m, n := value(t, second, "/model"), value(t, second, "/new"); m != `"old"` || n != "nothing" {
		t.Errorf("%s and %s", m, n)
	}
	must(t, second.Save(ctx, "/model", []byte("new")))
	if got := value(t, first, "/model"); got != `"new"` { // reading is not fenced
		t.Error(got)
	}
}

func testRaise(t *testing.T, f Factory) {
	p := f(t)
	first, _ := leads(t, p.Open(), a)
	must(t, first.Raise(t.Context(), 41))
	must(t, first.Raise(t.Context(), 7))
	must(t, first.Save(t.Context(), "/model", nil))
	if e := first.Epoch(); e != 1 {
		t.Errorf("the epoch of a term has changed to %d", e)
	}
	again, _ := leads(t, p.Open(), a)
	if e := again.Epoch(); e != 42 {
		t.Errorf("epoch %d", e)
	}
}

// testMany tests that each candidate leads once, and that their terms do not overlap.
func testMany(t *testing.T, f Factory) {
	const candidates = 4
	p := f(t)
	type tenure struct {
		term control.Term
		err  error
	}
	terms := make(chan tenure)
	for i := range candidates {
		s := p.Open()
		go func() {
			term, err := s.Campaign(t.Context(), control.Candidate{Address: fmt.Sprintf("127.0.0.1:%d", 9000+i)})
			terms <- tenure{term, err}
		}()
	}
	var before []control.Term
	for range candidates {
		next := <-terms
		must(t, next.err)
		for _, b := range before {
			if b.Valid() || b.Epoch() >= next.term.Epoch() {
				t.Errorf("epoch %d beside %d, which is valid: %v", next.term.Epoch(), b.Epoch(), b.Valid())
			}
			refused(t, "an earlier term saves", b.Save(t.Context(), "/model", nil))
		}
		must(t, next.term.Save(t.Context(), "/model", nil))
		before = append(before, next.term)
		if p.Expire != nil {
			p.Expire()
		}
	}
}
