package load

import (
	"cmp"
	"math"
	"slices"

	"adshard/balance"
)

// hitters are the heavy hitters: a bounded number of keys with the most load, a
// decayed, weighted lossy count (after Manku, Motwani 2002). Once it exceeds its
// bound by a quarter, the lightest are dropped, so that a key costs O(log n)
// amortised.
type hitters[K comparable] struct {
	limit   int
	compare func(a, b K) int
	all     map[K]hit
}

// hit is a key's average; it decays with the exposure of the shard that
// reported it last.
type hit struct {
	average
	shard balance.ShardID
	// reports is how many reports named the key, decayed.
	reports float64
}

// heavyHitter is a key with its load.
type heavyHitter[K comparable] struct {
	key  K
	load float64
}

func newHitters[K comparable](limit int, compare func(a, b K) int) hitters[K] {
	return hitters[K]{limit: limit, compare: compare, all: map[K]hit{}}
}

// add counts dt seconds, up to the shard's exposure, of load c a second.
func (h *hitters[K]) add(k K, shard balance.ShardID, exposed, dt, c, halfLife float64) {
	v, ok := h.all[k]
	switch {
	case !ok: // nothing was seen of it before
		v = hit{average: average{seen: exposed - dt, at: exposed - dt}, shard: shard}
	case v.shard != shard:
		v.shard, v.at = shard, exposed-dt
	case v.at == exposed:
		return
	}
	v.rest(exposed-dt, halfLife)
	v.step(dt, c, halfLife)
	v.reports = 1 + v.reports*math.Exp2(-dt/halfLife)
	v.at = exposed
	h.all[k] = v
}

// rest counts no load up to the shard's exposure.
func (v *hit) rest(exposed, halfLife float64) {
	if dt := exposed - v.at; dt > 0 {
		v.step(dt, 0, halfLife)
		v.reports *= math.Exp2(-dt / halfLife)
		v.at = exposed
	}
}

// now returns the load as of a shard's exposure.
func (v hit) now(exposed, halfLife float64) float64 {
	v.rest(exposed, halfLife)
	return v.rate
}

// sure is the share of the load attributed to the key. A key that was reported
// only once may have been sampled by chance, and among many such keys the lucky
// ones look hottest.
func (v hit) sure() float64 { return 1 - math.Exp2(-v.reports) }

// trim drops the lightest when there are too many.
func (h *hitters[K]) trim() {
	if len(h.all) <= h.limit+h.limit/4 {
		return
	}
	list := h.list(func(v hit) float64 { return v.rate })
	for _, v := range list[h.limit:] {
		delete(h.all, v.key)
	}
}

// top returns the n of most load, the greatest first.
func (h *hitters[K]) top(n int, load func(hit) float64) []heavyHitter[K] {
	list := h.list(load)
	return list[:min(n, len(list))]
}

// list returns all, the greatest first.
func (h *hitters[K]) list(load func(hit) float64) []heavyHitter[K] {
	list := make([]heavyHitter[K], 0, len(h.all))
	for k, v := range h.all {
		list = append(list, heavyHitter[K]{k, load(v)})
	}
	slices.SortFunc(list, func(a, b heavyHitter[K]) int {
		return cmp.Or(cmp.Compare(b.load, a.load), h.compare(a.key, b.key))
	})
	return list
}
