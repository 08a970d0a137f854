package control_test

import (
	"context"
	"testing"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/node/nodetest"
)

// silent is a database whose next write succeeds but returns an error.
type silent struct {
	backend.Store
	next bool
}

func (s *silent) SaveControlIf(ctx context.Context, key string, value []byte, guard string, was []byte) error {
	err := s.Store.SaveControlIf(ctx, key, value, guard, was)
	if err == nil && s.next {
		s.next = false
		err = fault.Newf(fault.Unavailable, "silent", "the answer was lost")
	}
	return err
}

const cluster, address = "c", "127.0.0.1:7000"

func fence(t *testing.T, db backend.Store) *control.Fence {
	t.Helper()
	f, err := control.NewFence(t.Context(), db, cluster, address, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// writes returns the errors of the calls that a term may not make after its end.
func writes(t *testing.T, f *control.Fence) map[string]error {
	return map[string]error{"save": f.Save(t.Context(), "/model", []byte("x")), "check": f.Check(t.Context()),
		"raise": f.Raise(t.Context(), 9), "compact": f.Compact(t.Context(), 1, 0)}
}

// TestRaisedWithoutAnAnswer: if raising the epoch gets no answer, the term is over, and the process
// begins the next term above the epoch that it raised to.
func TestRaisedWithoutAnAnswer(t *testing.T) {
	db := &silent{Store: nodetest.NewDatabase(t).DB}
	f := fence(t, db)
	db.next = true
	if err := f.Raise(t.Context(), 5); !fault.Is(err, fault.Unavailable) {
		t.Errorf("raised: %v", err)
	}
	for what, err := range writes(t, f) {
		if !fault.Is(err, fault.Stale) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if e := fence(t, db).Epoch(); e != 6 {
		t.Errorf("the next epoch is %d", e)
	}
	if err := f.Check(t.Context()); !fault.Is(err, fault.Conflict) {
		t.Errorf("after it: %v", err)
	}
}

// TestRaisedToTheEpochOfAnother: a balancer was started again at the same address and has the epoch to
// which the previous one wants to raise its own. The previous one is replaced.
func TestRaisedToTheEpochOfAnother(t *testing.T) {
	db := nodetest.NewDatabase(t).DB
	before, again := fence(t, db), fence(t, db)
	if err := before.Raise(t.Context(), again.Epoch()); !fault.Is(err, fault.Conflict) {
		t.Errorf("raised: %v", err)
	}
	for what, err := range writes(t, before) {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := again.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
