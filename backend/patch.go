package backend

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"adshard/fault"
	"adshard/targeting"
	"adshard/targeting/zone"
)

// Status is a change of an entity's status.
type Status uint8

// The statuses. Keep leaves the status unchanged, or enabled on creation. Remove deletes the entity with its content,
// and does nothing if the entity is missing.
const (
	Keep Status = iota
	Enable
	Pause
	Remove
)

// StatusOf returns the change that enables an entity, or pauses it.
func StatusOf(enabled bool) Status {
	if enabled {
		return Enable
	}
	return Pause
}

// Of returns whether an entity is enabled after the change.
func (s Status) Of(enabled bool) bool {
	switch s {
	case Enable:
		return true
	case Pause:
		return false
	}
	return enabled
}

// Patch is a change of one optional value.
type Patch[T comparable] struct {
	Op    PatchOp
	Value T
}

// PatchOp is the operation of a Patch.
type PatchOp uint8

// The operations. Unchanged keeps the present value, or the default on creation;
// Reset restores the default.
const (
	Unchanged PatchOp = iota
	Set
	Reset
)

// To returns a Patch that sets v.
func To[T comparable](v T) Patch[T] { return Patch[T]{Op: Set, Value: v} }

// toOptional returns a Patch that sets v, or restores the default if there is no value.
func toOptional[T comparable](v T, has bool) Patch[T] {
	if !has {
		return Patch[T]{Op: Reset}
	}
	return To(v)
}

// of returns the value after the patch: `now` is the present value and `normal` the default.
func (p Patch[T]) of(now, normal T) T {
	switch p.Op {
	case Set:
		return p.Value
	case Reset:
		return normal
	}
	return now
}

// optional is like `of`, for a value that may be missing.
func optional[T comparable](now T, has bool, p Patch[T]) (T, bool) {
	switch p.Op {
	case Set:
		return p.Value, true
	case Reset:
		return *new(T), false
	}
	return now, has
}

// merge replaces the patch by a later one if that changes anything. It reports whether that contradicts an earlier
// change.
func (p *Patch[T]) merge(later Patch[T]) bool {
	if later.Op == Unchanged {
		return false
	}
	differs := p.Op != Unchanged && *p != later
	*p = later
	return differs
}

func (s *Status) merge(later Status) bool {
	if later == Keep {
		return false
	}
	differs := *s != Keep && *s != later
	*s = later
	return differs
}

// toUnless returns a Patch that sets v, or restores the default if v is the default.
func toUnless[T comparable](v, normal T) Patch[T] { return toOptional(v, v != normal) }

// check returns fault.Invalid for the field if the patch sets a value that `allowed` rejects.
func (p Patch[T]) check(field string, allowed func(T) error) error {
	if p.Op != Set {
		return nil
	}
	if err := allowed(p.Value); err != nil {
		return fault.Field("write", field, "%w", err)
	}
	return nil
}

func checkMoney(micros uint64) error {
	if micros > math.MaxInt64 {
		return fmt.Errorf("%d micros are too many", micros)
	}
	return nil
}

// atMost returns a function that returns an error for a text of more than `most` bytes.
func atMost(most int) func(string) error {
	return func(text string) error {
		if len(text) > most {
			return fmt.Errorf("a text of %d bytes; %d are the most", len(text), most)
		}
		return nil
	}
}

func checkModifier(permille uint16) error {
	if permille > 10000 {
		return fmt.Errorf("a bid modifier is 0 to 10000 permille, not %d", permille)
	}
	return nil
}

func checkQuality(quality uint8) error {
	if quality < 1 || quality > maxQuality {
		return fmt.Errorf("a quality is 1 to 10, not %d", quality)
	}
	return nil
}

func checkLearned(l Learned) error {
	if l == 0 || !l.Sound() {
		return fmt.Errorf("%d is not a learned quality (backend.Learned)", l)
	}
	return nil
}

func checkZone(name string) error {
	_, err := zone.Load(name)
	return err
}

func checkDate(text string) error {
	if d, ok := targeting.ParseDate(text); !ok || d.String() != text {
		return fmt.Errorf("%q is not a date such as 2026-03-31", text)
	}
	return nil
}

// checkValue returns a function that returns an error unless a text is the canonical text of a value of package
// targeting.
func checkValue[T targeting.Value](parse func([]byte) (T, error)) func(string) error {
	return func(text string) error {
		v, err := parse([]byte(text))
		if err == nil && v.JSON() != text {
			err = fmt.Errorf("not canonical: %s", text)
		}
		return err
	}
}

// Languages are distinct lower-case codes in sorted order, joined by a space, or "" if there are none.
type Languages string

// LanguagesOf returns codes, given in any order, as Languages.
func LanguagesOf(codes ...string) Languages {
	codes = slices.Clone(codes)
	slices.Sort(codes)
	return Languages(strings.Join(slices.Compact(codes), " "))
}

// Codes returns the codes, or nil if there are none.
func (l Languages) Codes() []string {
	if l == "" {
		return nil
	}
	return strings.Split(string(l), " ")
}
