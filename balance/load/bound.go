package load

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"adshard/balance"
)

// Bound is a limit that no placement of whole items on the active shards can beat.
type Bound struct {
	// MaxOverMean is the least ratio of maximum to mean that can be reached. It is at
	// least 1.
	MaxOverMean float64
	// Item is the single item that determines the bound, or 0 if no single item does.
	Item balance.Key
	// Why explains what determines the bound.
	Why string
}

// LowerBound returns the bound for the measured loads, or for the items' weights if no
// load is measured. Items with a measured load cannot be divided. The others are
// treated as divisible, so the bound is never above the best placement. It is the
// greatest of
//
//   - the mean;
//   - the j heaviest items on the j strongest shards, for each j;
//   - for each m, the least L at which the shards have room for the m heaviest items,
//     where a shard has room for k of them if the k lightest are at most L times its
//     share. On N equal shards with weights w₁ ≥ w₂ … this is w₁, w_N + w_{N+1},
//     w_{2N−1} + w_{2N} + w_{2N+1} … (pigeonhole);
//   - the least L at which all load has room if the weight limit of a shard also limits
//     its load.
func LowerBound(in balance.Input) Bound { return lowerBound(in, OfSlices(in)) }

func lowerBound(in balance.Input, sums []SliceSum) Bound {
	p := newPlacement(in, sums)
	if p.total == 0 || p.shares == 0 {
		return Bound{MaxOverMean: 1, Why: "there is no load"}
	}
	b := Bound{MaxOverMean: 1, Why: "no placement is more even than the mean"}
	raise := func(least float64, item balance.Key, why string) {
		if r := least / p.mean(); r > b.MaxOverMean*(1+1e-9) {
			b = Bound{MaxOverMean: r, Item: item, Why: "cannot be balanced: " + fmt.Sprintf(why, r)}
		}
	}
	if len(p.items) > 0 {
		first := p.items[0]
		raise(first.load/p.shards[0].share, first.key, fmt.Sprintf(
			"ad group %d alone is %%.3g x the mean", in.Order.Item(first.key)))
	}
	j, least := p.strongest()
	raise(least, 0, fmt.Sprintf("the %d heaviest ad groups are %%.3g x the mean even on the strongest shards", j))
	m, least := p.crowded(b.MaxOverMean * p.mean())
	raise(least, 0, fmt.Sprintf("wherever the %d heaviest ad groups are placed, some shard has %%.3g x the mean", m))
	raise(p.limited(), 0, "the shards' weight limits leave some shard with %.3g x the mean")
	return b
}

// placement is the data from which a bound is computed.
type placement struct {
	shards []room                     // the active ones, strongest first
	items  []heavyHitter[balance.Key] // indivisible ones, heaviest first
	sum    []float64                  // sum[i] is the load of the i heaviest items
	total  float64                    // load of all items
	shares float64                    // sum of the shares of the active shards
	weight float64                    // of all items
}

// room is the capacity of a shard.
type room struct {
	share float64
	load  float64 // the most that the weight limit lets it have; below 0 if there is no limit
}

func (p *placement) mean() float64 { return p.total / p.shares }

func newPlacement(in balance.Input, sums []SliceSum) *placement {
	p := &placement{}
	limited := false
	for _, sh := range in.Model.Shards() {
		if sh.State == balance.Active {
			l := in.Limits[sh.ID]
			p.shards = append(p.shards, room{share: l.Strength(), load: -1})
			p.shares += l.Strength()
			limited = limited || l.Weight > 0
		}
	}
	for _, s := range sums {
		p.total += s.Load
		p.weight += float64(s.Weight)
	}
	if p.total == 0 || p.shares == 0 {
		return p
	}
	slices.SortFunc(p.shards, func(a, b room) int { return cmp.Compare(b.share, a.share) })
	p.items = indivisible(in, sums, p.mean()*p.shards[len(p.shards)-1].share/32)
	p.sum = make([]float64, len(p.items)+1)
	for i, v := range p.items {
		p.sum[i+1] = p.sum[i] + v.load
	}
	if limited {
		p.limit(in, sums)
	}
	return p
}

// indivisible returns the items with at least the load `least`, heaviest first: those
// whose load is measured, and those that are the only item of their slice; or all such
// items if no load is measured.
func indivisible(in balance.Input, sums []SliceSum, least float64) (list []heavyHitter[balance.Key]) {
	all := in.Model.Slices()
	if !in.Measured() {
		in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
			if float64(w) >= least {
				list = append(list, heavyHitter[balance.Key]{k, float64(w)})
			}
			return true
		})
	} else {
		var own []Item
		for i, s := range all {
			if sums[i].Load < least || sums[i].Items == 0 {
				continue
			}
			if sums[i].Items > 1 && !anyHot(in, s, least) {
				continue
			}
			own = OfItems(in, s, own[:0])
			for _, v := range own {
				if (v.Hot || len(own) == 1) && v.Load >= least {
					list = append(list, heavyHitter[balance.Key]{v.Key, v.Load})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b heavyHitter[balance.Key]) int {
		return cmp.Or(cmp.Compare(b.load, a.load), cmp.Compare(a.key, b.key))
	})
	return list
}

func anyHot(in balance.Input, s balance.Slice, least float64) (found bool) {
	in.Loads.Hot(s.Lo, s.Hi, func(_ balance.Key, load float64) bool {
		found = load >= least
		return !found
	})
	return found
}

// strongest returns the j for which the j heaviest items put the most load on each unit
// of share of the j strongest shards, and that load.
func (p *placement) strongest() (j int, least float64) {
	share := 0.0
	for i := range min(len(p.shards), len(p.items)) {
		share += p.shards[i].share
		if l := p.sum[i+1] / share; l > least {
			j, least = i+1, l
		}
	}
	return j, least
}

// crowded returns an m for which the shards have no room for the m heaviest items at
// the load `least` per unit of share, and the least load at which they have room. It
// returns 0 if there is always room.
func (p *placement) crowded(least float64) (m int, raised float64) {
	for i := 1; i <= len(p.items); i++ {
		if p.roomFor(i, least) {
			continue
		}
		lo, hi := least, p.total/p.shards[len(p.shards)-1].share
		for range 60 {
			mid := (lo + hi) / 2
			if p.roomFor(i, mid) {
				hi = mid
			} else {
				lo = mid
			}
		}
		m, raised, least = i, hi*(1-1e-12), hi
	}
	return m, raised
}

// roomFor reports whether the shards have room for the m heaviest items at the load l
// per unit of share.
func (p *placement) roomFor(m int, l float64) bool {
	count, last, share := 0, 0, 0.0
	for _, n := range p.shards {
		if n.share != share {
			share = n.share
			limit := l * share * (1 + 1e-12)
			last = sort.Search(m, func(k int) bool { return p.sum[m]-p.sum[m-k-1] > limit })
		}
		if count += last; count >= m {
			return true
		}
	}
	return false
}

// limit sets, for each shard with a weight limit, the most load that the shard can
// have: the load of the items with the most load for their weight.
func (p *placement) limit(in balance.Input, sums []SliceSum) {
	var dense []grain
	for i, s := range in.Model.Slices() {
		dense = grains(in, s, sums[i], dense)
	}
	sortByDensity(dense)
	i := 0
	for _, sh := range in.Model.Shards() {
		if sh.State != balance.Active {
			continue
		}
		l := in.Limits[sh.ID]
		if l.Weight > 0 {
			for i = range p.shards {
				if p.shards[i].share == l.Strength() && p.shards[i].load < 0 {
					p.shards[i].load = mostLoad(dense, float64(l.Weight))
					break
				}
			}
		}
	}
}

// limited returns the least load per unit of share at which all load has room.
func (p *placement) limited() float64 {
	if !slices.ContainsFunc(p.shards, func(r room) bool { return r.load >= 0 }) {
		return 0
	}
	fits := func(l float64) bool {
		var sum float64
		for _, n := range p.shards {
			take := l * n.share
			if n.load >= 0 {
				take = min(take, n.load)
			}
			sum += take
		}
		return sum >= p.total*(1-1e-12)
	}
	lo, hi := p.mean(), p.total/p.shards[len(p.shards)-1].share
	if !fits(hi) {
		return 0 // not even all shards together have room: LeastMove and the limits report that
	}
	for range 60 {
		if mid := (lo + hi) / 2; fits(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}
