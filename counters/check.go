package counters

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// most bounds the number of values of which Check tries all triples.
const most = 16

// Counterexample is the error of Check. It shows a law that does not hold, with two terms that should
// be equal.
type Counterexample struct {
	Law         string // such as "fold is commutative"
	Left, Right string // such as "fold(1, 2) = 1" and "fold(2, 1) = 2"
}

// Error implements error.
func (c *Counterexample) Error() string {
	return fmt.Sprintf("counters: it does not hold that %s: %s, but %s", c.Law, c.Left, c.Right)
}

// Check looks for values for which a kind, or an update of its values, breaks a law of counters. It
// returns the first counterexample as *Counterexample, or nil if it finds none. It tries all triples
// of up to 16 values: the neutral value, the samples, and their updates. Call it in a test: otherwise
// a fold that depends on the order of parts shows only when two readers get different totals.
//
// The laws: a value can be stored and read back unchanged; the neutral value is neutral; fold is
// commutative and associative; and to update a part is to update the whole, that is, fold(update(a),
// b) = update(fold(a, b)).
func Check[V any](k Kind[V], updates map[string]func(V) V, samples ...V) error {
	if _, err := partsOf(k); err != nil {
		return err
	}
	c := &checker[V]{kind: k, updates: updates, names: slices.Sorted(maps.Keys(updates))}
	values := c.values(samples)
	for _, a := range values {
		c.equal("the neutral value is neutral", c.fold(values[0], a), a)
	}
	for _, a := range values {
		for _, b := range values {
			c.equal("fold is commutative", c.fold(a, b), c.fold(b, a))
		}
	}
	for _, a := range values {
		for _, b := range values {
			for _, name := range c.names {
				c.equal("an update of a part is an update of the whole", c.fold(c.update(name, a), b), c.update(name, c.fold(a, b)))
			}
		}
	}
	for _, a := range values {
		for _, b := range values {
			for _, d := range values {
				c.equal("fold is associative", c.fold(c.fold(a, b), d), c.fold(a, c.fold(b, d)))
			}
		}
	}
	return c.err
}

// checker builds terms until the first error. After that its terms are empty.
type checker[V any] struct {
	kind    Kind[V]
	updates map[string]func(V) V
	names   []string // of the updates, in order
	err     error
}

// term is a stored value with the text of the expression that gave it.
type term struct {
	text string
	raw  json.RawMessage
}

// values returns the values to be tried, the neutral value first.
func (c *checker[V]) values(samples []V) []term {
	var list []term
	add := func(v V) {
		t := c.term("a value", v)
		t.text = string(t.raw)
		if len(list) < most && c.err == nil && !slices.ContainsFunc(list, func(o term) bool { return o.text == t.text }) {
			list = append(list, t)
		}
	}
	add(c.kind.Neutral())
	for _, s := range samples {
		add(s)
	}
	for i := 0; i < len(list) && len(list) < most; i++ {
		for _, name := range c.names {
			add(c.updates[name](c.value(list[i])))
		}
	}
	return list
}

func (c *checker[V]) fold(a, b term) term {
	if c.err != nil {
		return term{}
	}
	return c.term("fold("+a.text+", "+b.text+")", c.kind.Fold(c.value(a), c.value(b)))
}

func (c *checker[V]) update(name string, a term) term {
	if c.err != nil {
		return term{}
	}
	return c.term(name+"("+a.text+")", c.updates[name](c.value(a)))
}

// term encodes a value, and checks that it decodes to the same value.
func (c *checker[V]) term(text string, v V) term {
	raw, err := encode(v)
	if err != nil {
		c.err = err
		return term{}
	}
	t := term{text, raw}
	if back := c.value(t); c.err == nil && !reflect.DeepEqual(back, v) {
		c.err = &Counterexample{"values survive being stored", fmt.Sprintf("%s = %+v", text, v), fmt.Sprintf("%s is read as %+v", raw, back)}
	}
	return t
}

// value decodes a term. Each call returns a new copy, since functions may change their arguments.
func (c *checker[V]) value(t term) V {
	v, err := decode[V](t.raw)
	if err != nil {
		c.err = err
	}
	return v
}

// equal records a counterexample unless both terms are stored as the same bytes.
func (c *checker[V]) equal(law string, left, right term) {
	if c.err == nil && string(left.raw) != string(right.raw) {
		c.err = &Counterexample{law, left.shown(), right.shown()}
	}
}

func (t term) shown() string {
	if t.text == string(t.raw) {
		return t.text
	}
	return t.text + " = " + string(t.raw)
}
