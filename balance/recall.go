package balance

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// StrategyMemory is what a strategy remembers, as it is saved.
type StrategyMemory struct {
	Strategy string
	// InUse is set for the strategy in use; the others run in shadow.
	InUse bool
	Bytes []byte
}

// recall is what the strategies remember, by name.
type recall map[string][]byte

// newRecall takes what was saved. A strategy that has begun or ceased to be in use
// since begins anew.
func newRecall(saved []StrategyMemory, inUse string) recall {
	r := make(recall)
	for _, m := range saved {
		if m.InUse == (m.Strategy == inUse) {
			r[m.Strategy] = m.Bytes
		}
	}
	return r
}

// list returns what is to be saved.
func (r recall) list(inUse string) (list []StrategyMemory) {
	for name, b := range r {
		list = append(list, StrategyMemory{Strategy: name, InUse: name == inUse, Bytes: b})
	}
	slices.SortFunc(list, func(a, b StrategyMemory) int { return cmp.Compare(a.Strategy, b.Strategy) })
	return list
}

// keep remembers for a strategy and reports whether that is anything new.
func (r recall) keep(name string, b []byte) (changed bool) {
	if bytes.Equal(r[name], b) {
		return false
	}
	if len(b) == 0 {
		delete(r, name)
	} else {
		r[name] = bytes.Clone(b)
	}
	return true
}

// refuseMemory returns why a memory is not accepted, or "".
func refuseMemory(b []byte) string {
	if len(b) <= MaxMemory {
		return ""
	}
	return fmt.Sprintf("it wants to remember %d bytes, and a strategy may remember at most %d", len(b), MaxMemory)
}
