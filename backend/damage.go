package backend

import (
	"context"
	"fmt"
)

// Damage is something in a database that differs from what was written. It is the
// cause (errors.As) of errors of kind fault.Corrupt, whose entity must not be
// served, and is reported by Check.
type Damage struct {
	Kind    Kind   `json:"kind,omitempty"` // 0: not a single entity
	ID      uint64 `json:"id,omitempty"`
	Problem string `json:"problem"` // what is wrong
}

// Error implements error.
func (d *Damage) Error() string {
	if d.Kind == 0 {
		return d.Problem
	}
	return fmt.Sprintf("%v %d: %s", d.Kind, d.ID, d.Problem)
}

// String returns the kind's name.
func (k Kind) String() string {
	switch k {
	case KindAdvertiser:
		return "advertiser"
	case KindCampaign:
		return "campaign"
	case KindGroup:
		return "ad group"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// MarshalText implements encoding.TextMarshaler.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// CheckReport is what a Check found.
type CheckReport struct {
	Counts Counts `json:"counts"` // of everything readable
	// ByOthers is how many entities were last changed by programs that do not
	// maintain sums; these cannot be verified.
	ByOthers uint64    `json:"by_others"`
	Damage   []*Damage `json:"damage"` // empty: no damage
}

// Checker is a Store that can be checked as a whole.
type Checker interface {
	// Check reads everything and reports what is damaged. progress, which may
	// be nil, is called with what is being read, how much of it is done, and out
	// of how much. The error is why the check failed to run, not its result.
	Check(ctx context.Context, progress func(what string, done, total int64)) (*CheckReport, error)
}
