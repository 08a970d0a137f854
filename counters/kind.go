package counters

import (
	"cmp"
	"encoding/json"

	"adshard/fault"
)

// Kind declares the values of a counter. Values are stored as JSON. Each call of a function
// gets fresh copies, which it may change.
type Kind[V any] struct {
	// Neutral returns the value of a part before its first update.
	Neutral func() V
	// Fold combines two parts into one. It must be commutative and associative, and the
	// value of Neutral must be its neutral element: see Check.
	Fold func(a, b V) V
}

// Number is a type of integers, for Sum. Floating-point numbers are left out, since their
// sums depend on the order.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Sum returns the kind of counters whose parts are added up. It overflows like V.
func Sum[V Number]() Kind[V] {
	return Kind[V]{Neutral: func() V { return 0 }, Fold: func(a, b V) V { return a + b }}
}

// Max returns the kind of counters that keep the largest value. `least` must not be above
// any value.
func Max[V cmp.Ordered](least V) Kind[V] {
	return Kind[V]{Neutral: func() V { return least }, Fold: func(a, b V) V { return max(a, b) }}
}

// parts has the functions of a kind, for encoded values.
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

// function is an update of an encoded value.
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
