package cluster

import (
	"time"

	"adshard/balance"
)

// Cause is why a slice began to move.
type Cause struct {
	Text string
	// Away is set if the slice had to leave its shard; it may come back at once. Commanded is set if an operator
	// ordered the move.
	Away, Commanded bool
}

// Causes has the reasons for operations.
type Causes map[causeOf]Cause

type causeOf struct{ slice, with uint64 }

// Set sets the reason for an operation.
func (c Causes) Set(o balance.Op, why Cause) { c[causeOf{o.Slice, o.New}] = why }

// SetMove sets the reason for a slice's move.
func (c Causes) SetMove(slice uint64, why Cause) { c[causeOf{slice, 0}] = why }

// OfMove returns the reason for a slice's move.
func (c Causes) OfMove(slice uint64) Cause { return c[causeOf{slice, 0}] }

// Of returns the reason for an operation, or a zero Cause if it has none.
func (c Causes) Of(o balance.Op) Cause { return c[causeOf{o.Slice, o.New}] }

// Edit is an edit that is created on first use.
type Edit struct {
	*Cluster
	*Journal
	Begun *balance.Edit
}

// Idle reports whether no operation has been applied yet.
func (l *Edit) Idle() bool { return l.Begun == nil || len(l.Begun.Ops()) == 0 }

// Try applies an operation. If that fails, the error is reported and the operation is skipped.
func (l *Edit) Try(op func(*balance.Edit) error) {
	if l.Begun == nil {
		l.Begun = l.Model.Edit()
	}
	if err := op(l.Begun); err != nil {
		l.Trouble(err)
	}
}

// Change is a change of the model, to be saved and sent.
type Change struct {
	Model *balance.Model
	Ops   []balance.Op // nil if the quantum carries the whole model
	Why   Causes
}

// Rest is an interval of keys that a strategy leaves in place after a move, so that its load on the new shard is
// measured first.
type Rest struct {
	balance.Interval
	Until time.Duration
	Load  float64 // the load when it moved; below 0 if it does not matter
	Why   string
}
