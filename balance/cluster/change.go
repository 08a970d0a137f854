package cluster

import (
	"time"

	"adshard/balance"
)

// Cause is why a slice began to move.
type Cause struct {
	Text string
	// Away is set if the slice had to leave; it may come back at once. commanded is set if an
	// operator had it move.
	Away, Commanded bool
}

// Causes are the reasons for operations, by slice.
type Causes map[causeOf]Cause

type causeOf struct{ slice, with uint64 }

// Set gives the reason for an operation.
func (c Causes) Set(o balance.Op, why Cause) { c[causeOf{o.Slice, o.New}] = why }

// SetMove gives the reason for a slice's move.
func (c Causes) SetMove(slice uint64, why Cause) { c[causeOf{slice, 0}] = why }

// OfMove returns the reason for a slice's move.
func (c Causes) OfMove(slice uint64) Cause { return c[causeOf{slice, 0}] }

// Of returns the reason for an operation, or "" if it needs none.
func (c Causes) Of(o balance.Op) Cause { return c[causeOf{o.Slice, o.New}] }

// Edit is an edit that is created on first use.
type Edit struct {
	*Cluster
	*Journal
	Begun *balance.Edit
}

// Idle reports whether no operation was applied so far.
func (l *Edit) Idle() bool { return l.Begun == nil || len(l.Begun.Ops()) == 0 }

// Try applies an operation; an impossible one is reported and skipped.
func (l *Edit) Try(op func(*balance.Edit) error) {
	if l.Begun == nil {
		l.Begun = l.Model.Edit()
	}
	if err := op(l.Begun); err != nil {
		l.Trouble(err)
	}
}

// Change is a change of the model.
type Change struct {
	Model *balance.Model
	Ops   []balance.Op // nil: the quantum carries the whole model
	Why   Causes
}

// Rest is an interval of keys that a strategy leaves in place after a move, so that what it carries is measured first.
type Rest struct {
	balance.Interval
	Until time.Duration
	Load  float64 // when it left; <0: it counts for nothing
	Why   string
}
