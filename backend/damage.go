package backend

import (
	"context"
	"fmt"
)

// Damage is something in a database that is not as it was written. It is the
// cause of errors of kind fault.Corrupt (errors.As), whose entity must not be
// served, and what Check reports.
type Damage struct {
	Kind    Kind   `json:"kind,omitempty"` // 0: not of one entity
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
	Counts Counts `json:"counts"` // of what could be read
	// ByOthers is how many entities were last changed by programs that keep no
	// sums: of these it cannot be said whether they are as they were written.
	ByOthers uint64    `json:"by_others"`
	Damage   []*Damage `json:"damage"` // empty: all is well
}

// Checker is a Store that can be checked as a whole.
type Checker interface {
	// Check reads everything and reports what is damaged. progress, which may
	// be nil, is called with what is being read, how much of it is done, and out
	// of how much. The error is why the check could not be done, not what it found.
	Check(ctx context.Context, progress func(what string, done, total int64)) (*CheckReport, error)
}
