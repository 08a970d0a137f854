// Package control defines the interface to the store of a cluster's control state: which of several balancers leads, and what it
// decides.
//
// Candidates campaign. One of them leads for a term, whose number, the epoch, is higher than those of all earlier terms. The term has a
// lease, which the leader renews. A leader that could not renew its lease in time stops by itself, and a while later another candidate
// may lead. Leases only make this fast and orderly. What keeps the state right, whatever a frozen process believes, is the epoch: once
// a later term has begun, every write of an earlier one is refused within its transaction.
//
// Goals: no decision depends on a wall clock, or on a clock that two machines would have to share. A lease is a value that changes, and
// a waiting process watches it with its own monotonic clock. Non-goals: consensus, which the stores provide; many keys or writers.
//
// Stores: package indatabase keeps both leases and values in the backend database. Package inetcd keeps them in etcd, with the database
// as the fence. Package inmemory is the model with which package controltest compares the others. docs/decisions/021-control-state.md
// gives the reasons, and says what can go wrong.
package control

import (
	"context"
	"fmt"
	"time"

	"adshard/fault"
)

// Candidate is a balancer that may lead. Addresses are unique: a candidate with the leader's address is the leader itself, restarted.
type Candidate struct {
	Address string // where slaves and masters reach it, HOST:PORT
	Admin   string // the URL of its admin port, or "" if it has none
}

// Leader is a candidate that leads or has led.
type Leader struct {
	Candidate
	Epoch uint64 // 0 if no balancer has led yet
}

// Store holds the control state of one cluster. It is safe for concurrent use.
type Store interface {
	// Leader returns the newest leader, whether or not it is still at work.
	Leader(ctx context.Context) (Leader, error)
	// Campaign waits until no other candidate has a lease, and begins a term. It begins one at once if no balancer has led yet, if the
	// leader has resigned, or if the leader was `me`. It retries after failures of the store until ctx is done. Errors: those of ctx;
	// those of TakeOver except fault.Conflict and fault.Unavailable.
	Campaign(ctx context.Context, me Candidate) (Term, error)
	// TakeOver begins a term regardless of any lease: its caller knows that no other balancer is at work. Errors: fault.Conflict if
	// another candidate was faster.
	TakeOver(ctx context.Context, me Candidate) (Term, error)
}

// Term is the right of one leader to decide. Methods that write return *Replaced if another term has begun. They return fault.Stale if
// the store was restored to a time before this term, or if an earlier Raise got no answer and may have raised the epoch. In both cases
// nothing is written. It is safe for concurrent use.
type Term interface {
	// Epoch returns the term's number, from 1.
	Epoch() uint64
	// Valid reports whether the lease is running. While it is, no other term has begun by Campaign.
	Valid() bool
	// KeepAlive renews the lease until ctx is done, and then returns ctx's error; otherwise it returns *Replaced or fault.Stale. It
	// passes the outcome of each attempt to `note`. A lease that could not be renewed in time is renewed later if no other term has
	// begun.
	KeepAlive(ctx context.Context, note func(error)) error
	// Load returns the value that was written last, by any term, or nil if there is none.
	Load(ctx context.Context, key string) ([]byte, error)
	// Save makes a value durable.
	Save(ctx context.Context, key string, value []byte) error
	// Raise makes the next term's epoch higher than `epoch`.
	Raise(ctx context.Context, epoch uint64) error
	// Compact marks that this cluster needs the changes of the feed after a clock, and removes changes up to it that no reader needs
	// (backend.Feed).
	Compact(ctx context.Context, clock uint64, idle time.Duration) error
	// Resign ends the lease, so that another candidate may lead at once. Do not use the term afterwards.
	Resign(ctx context.Context) error
}

// Times are the times that leases take.
type Times struct {
	// Lease is how long a candidate must see a lease unchanged before it takes over.
	Lease time.Duration
	// Renew is the time between two renewals, and Poll the time between two checks of a lease.
	Renew, Poll time.Duration
}

// DefaultTimes returns times with which a standby leads within 4 s of a leader's death.
func DefaultTimes() Times {
	return Times{Lease: 3 * time.Second, Renew: time.Second, Poll: 250 * time.Millisecond}
}

// Validity is how long a renewal is valid for the leader, from its start. It is less than Lease by the amount that two monotonic clocks
// may drift apart, and by the time that a decision needs to take effect.
func (t Times) Validity() time.Duration { return t.Lease * 5 / 6 }

// Replaced is the error of a term that another one has replaced; its kind is fault.Conflict.
type Replaced struct {
	Epoch uint64 // of the replaced term
	By    Leader
}

// Error implements error.
func (r *Replaced) Error() string {
	return fmt.Sprintf("another balancer with epoch %d at %s has taken over this cluster (this one has epoch %d)",
		r.By.Epoch, r.By.Address, r.Epoch)
}

// Fault returns the error with its kind.
func (r *Replaced) Fault() error { return fault.New(fault.Conflict, "balancer", r) }

// Restored returns the error of a term whose store now has an earlier epoch.
func Restored(epoch, found uint64) error {
	return fault.Newf(fault.Stale, "balancer", "the control state has epoch %d, this balancer's is %d: it was restored", found, epoch)
}
