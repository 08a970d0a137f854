package load

import (
	"cmp"
	"math"
	"slices"

	"adshard/balance"
)

// hitters are the heavy hitters: a bounded number of keys, those with the most load.
// They are a decayed, weighted lossy count (after Manku, Motwani 2002). Once there are
// a quarter more than the bound, the lightest are dropped, so a key costs O(log n)
// amortised.
type hitters[K comparable] struct {
	limit   int
	compare func(a, b K) int
	all     map[K]hit
}

// hit is the average load of a key. It decays with the exposure of the shard that last
// reported the key.
type hit struct {
	average
	shard balance.ShardID
	// reports is the decayed number of reports that named the key.
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

// add adds the load c per second during dt seconds that end at the shard's exposure.
func (h *hitters[K]) add(k K, shard balance.ShardID, exposed, dt, c, halfLife float64) {
	v, ok := h.all[k]
	switch {
	case !ok: // the key was not known before
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

// rest adds a load of zero up to the shard's exposure.
func (v *hit) rest(exposed, halfLife float64) {
	if dt := exposed - v.at; dt > 0 {
		v.step(dt, 0, halfLife)
		v.reports *= math.Exp2(-dt / halfLife)
		v.at = exposed
	}
}

// now returns the load at a shard's exposure.
func (v hit) now(exposed, halfLife float64) float64 {
	v.rest(exposed, halfLife)
	return v.rate
}

// sure returns the share of its load that is attributed to the key. A key that was
// reported only once may have been sampled by chance, and among many such keys the
// lucky ones look hottest.
func (v hit) sure() float64 { return 1 - math.Exp2(-v.reports) }

// trim drops the lightest keys if there are too many.
func (h *hitters[K]) trim() {
	if len(h.all) <= h.limit+h.limit/4 {
		return
	}
	list := h.list(func(v hit) float64 { return v.rate })
	for _, v := range list[h.limit:] {
		delete(h.all, v.key)
	}
}

// top returns the n keys with the most load, the greatest first.
func (h *hitters[K]) top(n int, load func(hit) float64) []heavyHitter[K] {
	list := h.list(load)
	return list[:min(n, len(list))]
}

// list returns all keys, the greatest load first.
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
