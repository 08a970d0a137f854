// Package control is the contract with the store of a cluster's control state: which of
// several balancers leads, and what it decides.
//
// Candidates campaign. One of them leads, for a term with a number, its epoch, that is higher
// than all before. The term has a lease, which the leader renews; when it could not renew it in
// time it stops by itself, and a while after that another candidate may lead. That serves only
// speed and order. What keeps the state right, whatever a process that was frozen believes, is
// the epoch: each write of a term is refused, in the transaction that would make it, once a later
// term has begun.
//
// Goals: no wall clock decides anything, and no clock that two machines would have to share: a
// lease is a value that changes, watched with the monotonic clock of the process that waits for
// it. Non-goals: consensus, which the stores have; many keys or writers.
//
// Stores: package indatabase has both leases and values in the backend database, package inetcd has
// them in etcd, with the database as the fence; package inmemory is the model that the others are compared with by package controltest.
// docs/decisions/021-control-state.md says why, and what can go wrong.
package control

import (
	"context"
	"fmt"
	"time"

	"adshard/fault"
)

// Candidate is a balancer that may lead. Addresses are unique: a candidate that campaigns
// with the leader's address is the leader, started again.
type Candidate struct {
	Address string // where slaves and masters reach it, HOST:PORT
	Admin   string // the URL of its admin port; "": none
}

// Leader is a candidate that leads or has led.
type Leader struct {
	Candidate
	Epoch uint64 // 0: no balancer has led yet
}

// Store has the control state of one cluster. It is used by several goroutines.
type Store interface {
	// Leader returns the newest leader, whether or not it is still at work.
	Leader(ctx context.Context) (Leader, error)
	// Campaign waits until no other candidate has a lease, and begins a term. It begins one at
	// once if no balancer has led yet, if the leader has resigned, or if it was me. Failures of
	// the store are retried until ctx is done. Errors: ctx's; those of TakeOver but fault.Conflict
	// and fault.Unavailable.
	Campaign(ctx context.Context, me Candidate) (Term, error)
	// TakeOver begins a term without regard to the lease of another one: its caller knows that no
	// other balancer is at work. Errors: fault.Conflict when another candidate was faster.
	TakeOver(ctx context.Context, me Candidate) (Term, error)
}

// Term is the right to decide, of one leader. Methods that write fail with *Replaced when
// another term has begun, and with fault.Stale when the store was restored to a time before
// this one, or may have raised the epoch without an answer; nothing is written then. It is used by several goroutines.
type Term interface {
	// Epoch is the term's number, from 1.
	Epoch() uint64
	// Valid reports whether the lease is running: no other term has begun by campaign.
	Valid() bool
	// KeepAlive renews the lease until ctx is done, and returns ctx's error then; else *Replaced or
	// fault.Stale. Each attempt's outcome is passed to note. A lease that could not be renewed in time
	// is renewed later if no other term has begun.
	KeepAlive(ctx context.Context, note func(error)) error
	// Load returns a value, nil if there is none; it reads what was written last, by
	// whichever term.
	Load(ctx context.Context, key string) ([]byte, error)
	// Save makes a value durable.
	Save(ctx context.Context, key string, value []byte) error
	// Raise makes the next term's epoch higher than epoch.
	Raise(ctx context.Context, epoch uint64) error
	// Compact holds the feed at a clock for this cluster, and removes changes up to it that no
	// reader needs (backend.Feed).
	Compact(ctx context.Context, clock uint64, idle time.Duration) error
	// Resign ends the lease, so that another candidate may lead at once. The term must not be
	// used any more.
	Resign(ctx context.Context) error
}

// Times are those of leases.
type Times struct {
	// Lease is how long a candidate sees a lease unchanged before it takes it.
	Lease time.Duration
	// Renew is the time between two renewals, Poll that between two checks of a lease.
	Renew, Poll time.Duration
}

// DefaultTimes let a standby lead within 4 s of a leader's death.
func DefaultTimes() Times {
	return Times{Lease: 3 * time.Second, Renew: time.Second, Poll: 250 * time.Millisecond}
}

// Validity is how long after it began a renewal counts for the leader: less than Lease by
// what two monotonic clocks may differ in rate, and for a decision to take effect.
func (t Times) Validity() time.Duration { return t.Lease * 5 / 6 }

// Replaced is the error of a term after which another one has begun; its kind is
// fault.Conflict.
type Replaced struct {
	Epoch uint64 // of the term
	By    Leader
}

// Error implements error.
func (r *Replaced) Error() string {
	return fmt.Sprintf("another balancer with epoch %d at %s has taken over this cluster (this one has epoch %d)",
		r.By.Epoch, r.By.Address, r.Epoch)
}

// Fault returns the error with its kind.
func (r *Replaced) Fault() error { return fault.New(fault.Conflict, "balancer", r) }

// Restored returns the error of a term whose store has an earlier epoch.
func Restored(epoch, found uint64) error {
	return fault.Newf(fault.Stale, "balancer", "the control state has epoch %d, this balancer's is %d: it was restored", found, epoch)
}
