package counters

import (
	"cmp"
	"encoding/json"

	"adshard/fault"
)

// Kind declares the values of a counter. Values are stored as JSON, and each function
// gets values of its own, which it may change.
type Kind[V any] struct {
	// Neutral returns what a part is before its first update.
	Neutral func() V
	// Fold makes two parts one. It must be commutative and associative, with Neutral as the
	// neutral element: see Check.
	Fold func(a, b V) V
}

// Number is what Sum adds up. Sums of floating-point numbers depend on their order, so
// they are not here.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Sum is the kind of numbers that are added up; it wraps around as V does.
func Sum[V Number]() Kind[V] {
	return Kind[V]{Neutral: func() V { return 0 }, Fold: func(a, b V) V { return a + b }}
}

// Max is the kind of which the largest value is kept; least is below all others.
func Max[V cmp.Ordered](least V) Kind[V] {
	return Kind[V]{Neutral: func() V { return least }, Fold: func(a, b V) V { return max(a, b) }}
}

// parts are the functions of a kind on values as they are stored.
type parts struct {
	neutral json.RawMessage
	fold    func(a, b json.RawMessage) (json.RawMessage, error)
}

func partsOf[V any](k Kind[V]) (parts, error) {
	if k.Neutral == nil || k.Fold == nil {
		return parts{}, fault.Newf(fault.Invalid, "counters: new", "a kind needs Neutral and Fold")
	}
	neutral, err := encode(k.Neutral())
	return parts{neutral, func(a, b json.RawMessage) (json.RawMessage, error) {
		x, err := decode[V](a)
		if err != nil {
			return nil, err
		}
		y, err := decode[V](b)
		if err != nil {
			return nil, err
		}
		return encode(k.Fold(x, y))
	}}, err
}

func encode(v any) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	return b, fault.New(fault.Invalid, "counters: encode", err)
}

func decode[V any](b json.RawMessage) (v V, err error) {
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fault.Newf(fault.Corrupt, "counters: decode", "the stored value %.60q is no %T: %w", b, v, err)
	}
	return v, nil
}

// function is an update on values as they are stored.
type function func(json.RawMessage) (json.RawMessage, error)

func functionOf[V any](u func(V) V) function {
	return func(raw json.RawMessage) (json.RawMessage, error) {
		v, err := decode[V](raw)
		if err != nil {
			return nil, err
		}
		return encode(u(v))
	}
}
