package compared

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const raoPoolName = "rao-pool"

// pool makes heavy shards give slices away until they are light.
func (x *exchange) pool() {
	var list []int
	widest := 0.0 // the most that any shard can take
	for _, l := range x.sorted(x.light, 1) {
		widest = max(widest, x.room(l))
	}
	for _, h := range x.sorted(x.heavy, -1) {
		over := -x.room(h)
		on := slices.DeleteFunc(slices.Clone(x.on[h]), func(i int) bool { return x.Parts[i].Load > widest })
		for over > 0 && len(on) > 0 {
			k := slices.IndexFunc(on, func(i int) bool { return x.Parts[i].Load >= over })
			if k < 0 {
				k = len(on) - 1 // no single slice makes it light
			}
			over -= x.Parts[on[k]].Load
			list = append(list, on[k])
			on = slices.Delete(on, k, k+1)
		}
	}
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(x.Parts[j].Load, x.Parts[i].Load) })
	for _, i := range list {
		if !x.heavy(x.Parts[i].At) {
			continue // the slices before were enough
		}
		if to := x.tightest(i); to >= 0 {
			x.give(i, to, "of the pool, to the light shard that it leaves the least room")
		} else {
			x.swap(i)
		}
	}
}

// tightest returns the light shard that has the least room left with a slice, or -1 if
// none can take it.
func (x *exchange) tightest(i int) int {
	best, least := -1, math.Inf(1)
	for n := range x.Shards {
		if left := x.room(n) - x.Parts[i].Load; x.light(n) && left >= 0 && left < least && x.goes(i, n) {
			best, least = n, left
		}
	}
	return best
}

// swap exchanges a slice for the lightest slice with which the light shard stays light.
// If there is none, the slice stays.
func (x *exchange) swap(i int) {
	p := &x.Parts[i]
	for _, n := range x.sorted(x.light, 1) {
		for _, j := range x.on[n] {
			w := &x.Parts[j]
			if w.Load >= p.Load {
				break
			}
			if p.Load-w.Load > x.room(n) || !x.goes(i, n) || !x.goes(j, p.At) || !x.Affords(p.Items+w.Items, p.Weight+w.Weight) {
				continue
			}
			home := p.At
			x.give(i, n, fmt.Sprintf("of the pool, in exchange for slice %d", w.ID))
			x.give(j, home, fmt.Sprintf("in exchange for slice %d", p.ID))
			return
		}
	}
	x.Stay(p, "slice %d, %.3f x the mean load of a shard, fits on no light shard and stays on shard %s", p.ID, x.OfMean(p.Load), x.Shards[p.At].Name)
}
