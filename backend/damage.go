package backend

import (
	"context"
	"fmt"
)

// Damage is something in a database that differs from what was written. It is the cause (errors.As) of errors of kind
// fault.Corrupt; the entity of such an error must not be served. Check reports damage, too.
type Damage struct {
	Kind    Kind   `json:"kind,omitempty"` // 0 if it is not a single entity
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

// CheckReport is the result of a Check.
type CheckReport struct {
	Counts Counts `json:"counts"` // of everything readable
	// ByOthers is the number of entities last changed by programs that do not maintain sums. They cannot be verified.
	ByOthers uint64    `json:"by_others"`
	Damage   []*Damage `json:"damage"` // empty if there is none
}

// Checker is a Store that can be checked as a whole.
type Checker interface {
	// Check reads everything and reports the damage. progress, which may be nil, is called with what is being read,
	// how much of it is done, and how much there is. Check returns an error only if it could not run, not because of
	// damage.
	Check(ctx context.Context, progress func(what string, done, total int64)) (*CheckReport, error)
}
