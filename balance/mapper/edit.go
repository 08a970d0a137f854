package mapper

import "adshard/balance"

// cause is why a slice began to move.
type cause struct {
	text string
	// away is set if the slice had to leave; it may come back at once. commanded is set if an
	// operator had it move.
	away, commanded bool
}

// causes are the reasons for operations, by slice.
type causes map[causeOf]cause

type causeOf struct{ slice, with uint64 }

func (c causes) set(o balance.Op, why cause) { c[causeOf{o.Slice, o.New}] = why }

// of returns the reason for an operation, or "" if it needs none.
func (c causes) of(o balance.Op) cause { return c[causeOf{o.Slice, o.New}] }

// lazyEdit is an edit that is created on first use.
type lazyEdit struct {
	*cluster
	*journal
	e *balance.Edit
}

// idle reports whether no operation was applied so far.
func (l *lazyEdit) idle() bool { return l.e == nil || len(l.e.Ops()) == 0 }

// try applies an operation; an impossible one is reported and skipped.
func (l *lazyEdit) try(op func(*balance.Edit) error) {
	if l.e == nil {
		l.e = l.model.Edit()
	}
	if err := op(l.e); err != nil {
		l.trouble(err)
	}
}

// modelChange is a change of the model.
type modelChange struct {
	model *balance.Model
	ops   []balance.Op // nil: the quantum carries the whole model
	why   causes
}
