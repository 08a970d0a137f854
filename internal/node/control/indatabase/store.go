// Package indatabase keeps the control state of a cluster in its backend database, for clusters
// without etcd. A lease is a value that its leader changes once a second; a candidate takes it
// after seeing it unchanged for Times.Lease.
package indatabase

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/wait"
)

// Store implements control.Store.
type Store struct {
	db    backend.Store
	key   string
	times control.Times
}

// New returns the control state stored under a key of a database.
func New(db backend.Store, key string, times control.Times) *Store { return &Store{db, key, times} }

// lease is the value of a lease in the database. It holds no time of day.
type lease struct {
	Term     string `json:"term"`  // random, different for each term
	Epoch    uint64 `json:"epoch"` // 0 if the term is about to begin
	Beat     uint64 `json:"beat"`  // grows with each renewal
	Address  string `json:"address"`
	Admin    string `json:"admin,omitempty"`
	Resigned bool   `json:"resigned,omitempty"`
}

func (l lease) encode() []byte {
	text, _ := json.Marshal(l) // a struct of texts and numbers can always be encoded
	return text
}

// decode reads a lease. An unreadable lease has no owner, and candidates watch it like any other.
func decode(text []byte) (l lease) {
	if json.Unmarshal(text, &l) != nil {
		return lease{}
	}
	return l
}

func (s *Store) leaseKey() string { return s.key + "/lease" }

// Leader implements control.Store.
func (s *Store) Leader(ctx context.Context) (control.Leader, error) {
	epoch, address, err := control.Epoch(ctx, s.db, s.key)
	if err != nil {
		return control.Leader{}, err
	}
	text, err := s.db.LoadControl(ctx, s.leaseKey())
	if err != nil {
		return control.Leader{}, fmt.Errorf("load the balancer's lease: %w", err)
	}
	out := control.Leader{Candidate: control.Candidate{Address: address}, Epoch: epoch}
	if l := decode(text); l.Address == address && l.Epoch != 0 {
		out.Admin, out.Epoch = l.Admin, min(l.Epoch, epoch) // the number may have been raised for the next term
	}
	return out, nil
}

// Campaign implements control.Store.
func (s *Store) Campaign(ctx context.Context, me control.Candidate) (control.Term, error) {
	var seen []byte
	var since time.Time // when `seen` was first seen, or zero if nothing was
	for {
		now, free, err := s.look(ctx, me)
		switch {
		case err != nil: // `seen` stays valid: it is compared with what is read next
		case since.IsZero() || !bytes.Equal(now, seen):
			seen, since = now, time.Now()
		}
		if err == nil && (free || time.Since(since) >= s.times.Lease) {
			t, err := s.begin(ctx, me, seen)
			if err == nil || !retried(err) {
				return t, err
			}
		}
		if err := wait.Sleep(ctx, s.times.Poll); err != nil {
			return nil, err
		}
	}
}

// retried reports whether the next attempt may succeed after an error.
func retried(err error) bool {
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Unavailable, fault.Locked, fault.NoSpace, fault.Deadline:
		return true
	}
	return false
}

// look returns the encoded lease, and whether a candidate may take it at once.
func (s *Store) look(ctx context.Context, me control.Candidate) (now []byte, free bool, err error) {
	now, err = s.db.LoadControl(ctx, s.leaseKey())
	if err != nil {
		return nil, false, err
	}
	if now != nil {
		l := decode(now)
		return now, l.Resigned || l.Address == me.Address, nil
	}
	// A leader of a version without leases has only an epoch.
	epoch, address, err := control.Epoch(ctx, s.db, s.key)
	return nil, epoch == 0 || address == me.Address, err
}

// TakeOver implements control.Store.
func (s *Store) TakeOver(ctx context.Context, me control.Candidate) (control.Term, error) {
	for {
		seen, err := s.db.LoadControl(ctx, s.leaseKey())
		if err != nil {
			return nil, fmt.Errorf("load the balancer's lease: %w", err)
		}
		t, err := s.begin(ctx, me, seen)
		if !errors.Is(err, errClaimed) { // if so, the leader has renewed it meanwhile
			return t, err
		}
	}
}

// errClaimed means that a lease has changed since it was read.
var errClaimed = errors.New("the balancer's lease has changed")

// begin begins a term if the lease is still the one that was seen; otherwise it returns errClaimed.
// It first claims the lease, so that the previous leader cannot renew it and no other candidate can
// take it. Then it raises the epoch, after which the writes of the previous leader are refused.
func (s *Store) begin(ctx context.Context, me control.Candidate, seen []byte) (control.Term, error) {
	own := lease{Term: rand.Text(), Address: me.Address, Admin: me.Admin}
	claim := own.encode()
	err := s.db.SaveControlIf(ctx, s.leaseKey(), claim, s.leaseKey(), seen)
	switch {
	case fault.Is(err, fault.Conflict):
		return nil, fault.New(fault.Conflict, "balancer", errClaimed)
	case err != nil:
		return nil, fmt.Errorf("claim the balancer's lease: %w", err)
	}
	fence, err := control.NewFence(ctx, s.db, s.key, me.Address, 0)
	if err != nil {
		return nil, err
	}
	own.Epoch = fence.Epoch()
	t := &term{Fence: fence, store: s, own: own, saved: claim}
	if err := t.renew(ctx); err != nil {
		return nil, err
	}
	return t, nil
}
