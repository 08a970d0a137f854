package load

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"adshard/balance"
)

// Topic is a topic with its load per second on a shard.
type Topic struct {
	Term uint64
	Load float64
}

// snapshot is a snapshot of a Table.
type snapshot struct {
	slices   map[uint64]float64
	hot      []heavyHitter[balance.Key] // in ascending order of keys
	measured bool
}

// Slice implements Loads.
func (l *snapshot) Slice(id uint64) float64 { return l.slices[id] }

// Measured implements Loads.
func (l *snapshot) Measured() bool { return l.measured }

// Hot implements Loads.
func (l *snapshot) Hot(lo, hi balance.Key, visit func(k balance.Key, load float64) bool) {
	i := sort.Search(len(l.hot), func(i int) bool { return l.hot[i].key >= lo })
	for ; i < len(l.hot) && l.hot[i].key <= hi; i++ {
		if !visit(l.hot[i].key, l.hot[i].load) {
			return
		}
	}
}

// At returns an immutable snapshot of the loads for model m. If a slice's shard has not
// reported yet, the slice gets a load by its weight, as the other slices have. The hot
// items of a slice together have at most the slice's load.
func (t *Table) At(_ time.Duration, m *balance.Model, items balance.Items) balance.Loads {
	t.Model(m, items)
	if t.last != nil {
		return t.last
	}
	out := &snapshot{slices: make(map[uint64]float64, len(t.order)), measured: t.measured}
	unknown := false
	for _, s := range t.order {
		t.settle(s, t.exposed(s.Shard))
		out.slices[s.ID] = s.rate
		unknown = unknown || s.seen == 0
	}
	if unknown && out.measured {
		t.guess(out)
	}
	t.snapshot(out)
	t.last = out
	return out
}

// guess gives slices without reports the same load per weight as the other slices have.
func (t *Table) guess(out *snapshot) {
	weights := make([]float64, len(t.order))
	i := 0
	t.items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for t.order[i].Hi < k {
			i++
		}
		weights[i] += itemWeight(w)
		return true
	})
	var rate, weight float64
	for i, s := range t.order {
		if s.seen > 0 {
			rate += s.rate
			weight += weights[i]
		}
	}
	if weight == 0 {
		return
	}
	for i, s := range t.order {
		if s.seen == 0 {
			out.slices[s.ID] = rate * weights[i] / weight
		}
	}
}

// snapshot adds the hot items. Those of a slice are scaled if they have more than the
// slice's load.
func (t *Table) snapshot(out *snapshot) {
	out.hot = make([]heavyHitter[balance.Key], 0, len(t.hot.all))
	for k, v := range t.hot.all {
		out.hot = append(out.hot, heavyHitter[balance.Key]{k, v.rate})
	}
	slices.SortFunc(out.hot, func(a, b heavyHitter[balance.Key]) int { return cmp.Compare(a.key, b.key) })
	i, begin, sum := 0, 0, 0.0
	scale := func(end int) {
		if limit := out.slices[t.order[i].ID]; sum > limit {
			for j := begin; j < end; j++ {
				out.hot[j].load *= limit / sum
			}
		}
	}
	for j := range out.hot {
		h := &out.hot[j]
		if t.order[i].Hi < h.key {
			scale(j)
			begin, sum = j, 0
			i += sort.Search(len(t.order)-i, func(d int) bool { return t.order[i+d].Hi >= h.key })
		}
		h.load = t.settled(h.key, t.order[i].Slice)
		sum += h.load
	}
	scale(len(out.hot))
}

// settled returns the load of a hot item, up to its shard's exposure, as far as it is
// attributed to the item.
func (t *Table) settled(k balance.Key, s balance.Slice) float64 {
	v := t.hot.all[k]
	switch {
	case v.shard != s.Shard: // the item moved there with its slice, and keeps its load
		v.shard, v.at = s.Shard, t.exposed(s.Shard)
	case s.Move.Phase == balance.Switched:
		v.at = t.exposed(s.Shard)
	default:
		v.rest(t.exposed(v.shard), t.halfLife)
	}
	t.hot.all[k] = v
	return v.rate * v.sure()
}
