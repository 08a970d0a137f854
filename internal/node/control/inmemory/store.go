// Package inmemory implements package control in the simplest way. It is the model that other
// stores are compared with. Tests decide when leases end.
package inmemory

import (
	"context"
	"sync"
	"time"

	"adshard/internal/node/control"
	"adshard/internal/wait"
)

// Store is a control state in memory. The zero value is empty and ready to use.
type Store struct {
	mu      sync.Mutex
	leader  control.Leader
	lease   *term // nil if no term has it
	floor   uint64
	values  map[string][]byte
	held    uint64
	changed wait.Broadcast // sent when the lease changes
}

// term is a term of a Store. It is the newest one if Store.leader has its epoch.
type term struct {
	store *Store
	epoch uint64
}

// Leader implements control.Store.
func (s *Store) Leader(context.Context) (control.Leader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leader, nil
}

// Campaign implements control.Store.
func (s *Store) Campaign(ctx context.Context, me control.Candidate) (control.Term, error) {
	for {
		s.mu.Lock()
		if s.lease == nil || s.leader.Address == me.Address {
			defer s.mu.Unlock()
			return s.begin(me), nil
		}
		changed := s.changed.Next()
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// TakeOver implements control.Store.
func (s *Store) TakeOver(_ context.Context, me control.Candidate) (control.Term, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin(me), nil
}

func (s *Store) begin(me control.Candidate) *term {
	s.leader = control.Leader{Candidate: me, Epoch: max(s.leader.Epoch, s.floor) + 1}
	s.lease = &term{s, s.leader.Epoch}
	return s.lease
}

// Expire ends the lease, as if its leader had died.
func (s *Store) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease = nil
	s.changed.Notify()
}

// Held returns the clock from which the feed keeps its changes.
func (s *Store) Held() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// write makes a change if the term is the newest one.
func (t *term) write(change func(s *Store)) error {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.store.leader.Epoch != t.epoch {
		return (&control.Replaced{Epoch: t.epoch, By: t.store.leader}).Fault()
	}
	change(t.store)
	return nil
}

// Epoch implements control.Term.
func (t *term) Epoch() uint64 { return t.epoch }

// Valid implements control.Term.
func (t *term) Valid() bool {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	return t.store.lease == t
}

// KeepAlive implements control.Term.
func (t *term) KeepAlive(ctx context.Context, note func(error)) error {
	for {
		err := t.write(func(s *Store) { s.lease = t })
		if note(err); err != nil {
			return err
		}
		if err := wait.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// Load implements control.Term.
func (t *term) Load(_ context.Context, key string) ([]byte, error) {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	return t.store.values[key], nil
}

// Save implements control.Term.
func (t *term) Save(_ context.Context, key string, value []byte) error {
	return t.write(func(s *Store) {
		if s.values == nil {
			s.values = make(map[string][]byte)
		}
		s.values[key] = append([]byte{}, value...)
	})
}

// Raise implements control.Term.
func (t *term) Raise(_ context.Context, epoch uint64) error {
	return t.write(func(s *Store) { s.floor = max(s.floor, epoch) })
}

// Compact implements control.Term.
func (t *term) Compact(_ context.Context, clock uint64, _ time.Duration) error {
	return t.write(func(s *Store) { s.held = clock })
}

// Resign implements control.Term.
func (t *term) Resign(context.Context) error {
	return t.write(func(s *Store) { s.lease = nil; s.changed.Notify() })
}
