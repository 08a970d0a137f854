package compare

import (
	"strings"
	"testing"

	"adshard/balance/strategy"
	"adshard/fault"
)

// called is a strategy with another name.
type called struct {
	strategy.Random
	name string
}

func (c called) Name() string { return c.name }

// TestOwn: custom strategies are found by name like the others, and cannot have a
// name that is already used.
func TestOwn(t *testing.T) {
	own := Own{called{name: "one"}, called{name: "two"}}
	for _, name := range []string{"one", "two", "random"} {
		if s, err := own.Named(name); err != nil || s.Name() != name || own.Has(name) != (name != "random") {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if _, err := own.Named("three"); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "[one two]") {
		t.Error(err)
	}
	for _, taken := range []string{"two", "random"} {
		if _, err := append(own, called{name: taken}).Named("one"); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s twice: %v", taken, err)
		}
	}
}
