package plan

import (
	"bytes"
	"cmp"
	"slices"

	"adshard/balance"
)

// recall has the memories of strategies, by name.
type recall map[string][]byte

// newRecall takes the saved memories. It drops the memory of a strategy that was saved
// in use and no longer is, or the other way round.
func newRecall(saved []balance.StrategyMemory, inUse string) recall {
	r := make(recall)
	for _, m := range saved {
		if m.InUse == (m.Strategy == inUse) {
			r[m.Strategy] = m.Bytes
		}
	}
	return r
}

// list returns the memories to be saved.
func (r recall) list(inUse string) (list []balance.StrategyMemory) {
	for name, b := range r {
		list = append(list, balance.StrategyMemory{Strategy: name, InUse: name == inUse, Bytes: b})
	}
	slices.SortFunc(list, func(a, b balance.StrategyMemory) int { return cmp.Compare(a.Strategy, b.Strategy) })
	return list
}

// keep sets the memory of a strategy, and reports whether it has changed.
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
