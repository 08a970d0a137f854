package upsert

import (
	"math"
	"slices"
	"strings"

	"adshard/backend"
	"adshard/fault"
	"adshard/search"
)

const opWrite = "write" // the operation that errors name

// Optional is a number that may be missing (NULL).
type Optional struct {
	Has bool
	N   uint64
}

// Modifiers are bid modifiers by device, in permille.
type Modifiers [search.Devices]Optional

// Advertiser is what a patch changes of an advertiser.
type Advertiser struct {
	Enabled  bool
	TimeZone string
}

// NewAdvertiser returns the value of an advertiser before the patch that creates it.
func NewAdvertiser() Advertiser {
	return Advertiser{Enabled: true, TimeZone: backend.DefaultTimeZone}
}

// Campaign is what a patch changes of a campaign. Languages are lower-case
// codes, sorted, joined by a space.
type Campaign struct {
	Enabled          bool
	Hold             backend.Hold
	Budget           Optional // micros a day
	StandardDelivery bool
	Modifiers        Modifiers
	Languages        string
	RotateEvenly     bool
}

// Group is what a patch changes of an ad group. Bid is in micros.
type Group struct {
	Enabled   bool
	Hold      backend.Hold
	Bid       Optional
	Modifiers Modifiers
}

// Apply changes an advertiser as a patch says. Errors: fault.Invalid; the advertiser is
// unchanged then.
func (v *Advertiser) Apply(p backend.AdvertiserPatch) error {
	if p.TimeZone.Op == backend.Set && p.TimeZone.Value != v.TimeZone {
		if _, err := backend.LoadZone(p.TimeZone.Value); err != nil {
			return err
		}
	}
	v.Enabled = Enabled(v.Enabled, p.Status)
	v.TimeZone = apply(v.TimeZone, p.TimeZone, backend.DefaultTimeZone)
	return nil
}

// Apply changes a campaign as a patch says. Errors: fault.Invalid; the campaign
// is unchanged then.
func (v *Campaign) Apply(p backend.CampaignPatch) error {
	if p.DailyBudget.Op == backend.Set && p.DailyBudget.Value > math.MaxInt64 {
		return fault.Field(opWrite, "budget", "a budget of %d micros is too high", p.DailyBudget.Value)
	}
	if err := v.Modifiers.apply(p.Modifiers); err != nil {
		return err
	}
	v.Enabled = Enabled(v.Enabled, p.Status)
	v.Budget = applyOptional(v.Budget, p.DailyBudget)
	v.StandardDelivery = apply(v.StandardDelivery, p.StandardDelivery, false)
	v.RotateEvenly = apply(v.RotateEvenly, p.RotateEvenly, false)
	switch p.Languages.Op {
	case backend.Set:
		codes := slices.Clone(p.Languages.Value)
		slices.Sort(codes)
		v.Languages = strings.Join(slices.Compact(codes), " ")
	case backend.Reset:
		v.Languages = ""
	}
	return nil
}

// Apply changes a group as a patch says. Errors: fault.Invalid; the group is
// unchanged then.
func (v *Group) Apply(p backend.GroupPatch) error {
	if p.Bid.Op == backend.Set && p.Bid.Value > math.MaxInt64 {
		return fault.Field(opWrite, "bid", "a bid of %d micros is too high", p.Bid.Value)
	}
	if err := v.Modifiers.apply(p.Modifiers); err != nil {
		return err
	}
	v.Enabled = Enabled(v.Enabled, p.Status)
	v.Bid = applyOptional(v.Bid, p.Bid)
	return nil
}

func (m *Modifiers) apply(patches [search.Devices]backend.Patch[uint16]) error {
	for _, p := range patches {
		if p.Op == backend.Set && p.Value > 10000 {
			return fault.Field(opWrite, "modifier", "a bid modifier is 0 to 10000 permille, not %d", p.Value)
		}
	}
	for i, p := range patches {
		switch p.Op {
		case backend.Set:
			m[i] = Optional{true, uint64(p.Value)}
		case backend.Reset:
			m[i] = Optional{}
		}
	}
	return nil
}

// Of returns modifiers as entities have them.
func (m Modifiers) Of() (list [search.Devices]backend.Modifier) {
	for i, o := range m {
		if o.Has {
			list[i] = backend.Modifier{Set: true, Permille: uint16(o.N)}
		}
	}
	return list
}

// Enabled returns whether something is enabled after a change of its status.
func Enabled(enabled bool, s backend.Status) bool {
	switch s {
	case backend.Enable:
		return true
	case backend.Pause:
		return false
	}
	return enabled
}

func apply[T any](now T, p backend.Patch[T], normal T) T {
	switch p.Op {
	case backend.Set:
		return p.Value
	case backend.Reset:
		return normal
	}
	return now
}

func applyOptional(now Optional, p backend.Patch[uint64]) Optional {
	switch p.Op {
	case backend.Set:
		return Optional{true, p.Value}
	case backend.Reset:
		return Optional{}
	}
	return now
}
