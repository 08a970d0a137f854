package compared

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"adshard/balance"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const autoplacerName = "autoplacer"

// Autoplacer is consistent hashing from which hot items are taken out (Paiva, Ruivo,
// Romano, Rodrigues, ACM TAAS 9(4), 2014; thesis 4.6). Items are where ConsistentRandom
// has them until they are hot. Each iteration is a round: the Hottest hot items that are
// not frozen are placed again, while the load of all other items stays where it is. Then
// these items are frozen, even those that stay, until all known hot items have been
// considered. That is a cycle, and no item moves twice in it. A round that would gain
// less than Gain is not carried out, and ends the cycle.
//
// The constants are not from the paper. The gain of a round is by how much the load above
// the mean falls, summed over all shards, in mean loads of a shard. It is a prediction
// and not a measurement, since measured loads lag by their half-life. The paper solves
// each round by linear programming and minimises remote accesses. Here all shards are
// asked in any case, so only the load matters, and a greedy packing is enough (place).
//
// The paper keeps a record of moved items in probabilistic associative arrays (Bloom
// filters and a classifier). Here the model is the record: an item that was taken out is
// a slice of its one key, which distinguishes it from the arcs. If there are more than
// Most of them, the coolest go home, where they merge with their arcs again.
type Autoplacer struct {
	Tokens  Tokens
	Hottest int
	Gain    float64
	Most    int
}

// mostFrozen is the number of items that are remembered. When it is reached, the cycle
// ends.
const mostFrozen = 4096

func readAutoplacer(r *options.Reader) Autoplacer {
	a := Autoplacer{Tokens: readTokens(r), Hottest: 16, Gain: 0.005, Most: 4096}
	r.Count(&a.Hottest, "hottest", 1000, "items placed anew in a round")
	r.Number(&a.Gain, "gain", 0, 10, "least gain of a round, in mean loads of a shard; less ends the cycle")
	r.Count(&a.Most, "relocated", 100_000, "items that are elsewhere than hashing has them, about; then the coolest go home")
	return a
}

// Name implements balance.Strategy.
func (Autoplacer) Name() string { return autoplacerName }

// Initial implements balance.Strategy.
func (a Autoplacer) Initial(in balance.Input) (balance.Proposal, error) {
	return ConsistentRandom{a.Tokens}.Initial(in)
}

// Refuges implements balance.Refuge: slices that leave go where hashing now has them.
func (a Autoplacer) Refuges(in balance.Input, leaving []balance.Slice) []balance.ShardID {
	return ConsistentRandom{a.Tokens}.Refuges(in, leaving)
}

// Iterate implements balance.Strategy.
func (a Autoplacer) Iterate(in balance.Input) (balance.Proposal, error) {
	ring, err := a.Tokens.ring(in)
	if err != nil {
		return balance.Proposal{}, err
	}
	b := draft.New(in, 1)
	if b.Active == 0 {
		b.Leave(0, "no shard is active")
		return b.Proposal(), nil
	}
	r := round{Draft: b, Autoplacer: a, ring: ring, frozen: frozenItems(in.Memory)}
	want := r.wanted()
	b.Toward(want)
	if why := r.waits(); why != "" {
		b.Leave(0, "%s", why)
	} else {
		r.home()
		r.play()
	}
	b.Join(want)
	p := b.Proposal()
	p.Memory = r.memory()
	return p, nil
}

// round is an iteration of Autoplacer.
type round struct {
	*draft.Draft
	Autoplacer
	ring   []token
	frozen map[balance.Key]bool
}

// relocated reports whether a slice is an item that was taken out and is not at home.
func (r *round) relocated(p *draft.Part) bool {
	return p.Lo == p.Hi && r.Shards[p.At].Active && r.Shards[p.At].ID != r.ring[owner(r.ring, p.Lo)].shard
}

// wanted returns where all keys should be: on the arcs of the ring, except for the
// relocated items, which should stay where they are.
func (r *round) wanted() []draft.Piece {
	var out, rest []draft.Piece
	for i := range r.Parts {
		if p := &r.Parts[i]; r.relocated(p) {
			out = append(out, draft.Piece{Lo: p.Lo, Shard: r.Shards[p.At].ID, Why: "it was hot"})
			if p.Lo < balance.MaxKey {
				t := r.ring[owner(r.ring, p.Lo+1)]
				rest = append(rest, draft.Piece{Lo: p.Lo + 1, Shard: t.shard, Why: "the rest of an arc"})
			}
		}
	}
	out = slices.Concat(out, arcs(r.ring), rest) // of pieces with the same first key, the first one is used
	slices.SortStableFunc(out, func(a, b draft.Piece) int { return cmp.Compare(a.Lo, b.Lo) })
	return slices.CompactFunc(out, func(a, b draft.Piece) bool { return a.Lo == b.Lo })
}

// waits returns why there is no round now, or "" if there is one.
func (r *round) waits() string {
	moving := slices.ContainsFunc(r.Parts, func(p draft.Part) bool { return p.Move.Phase == balance.Copying })
	switch {
	case len(r.Ops) > 0 || r.Staying > 0 && moving:
		return "items go where consistent hashing has them first"
	case r.In.Few != "":
		return "rests: " + r.In.Few
	case r.In.Loads == nil || !r.In.Loads.Measured():
		return "no load is measured yet; all is where consistent hashing has it"
	}
	return ""
}

// home sends the coolest relocated items home if there are too many.
func (r *round) home() {
	var list []*draft.Part
	all := 0
	for i := range r.Parts {
		p := &r.Parts[i]
		if !r.relocated(p) {
			continue
		}
		if all++; !p.Busy && !r.frozen[p.Lo] {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *draft.Part) int { return cmp.Compare(a.Load, b.Load) })
	for _, p := range list[:min(len(list), r.Hottest, max(0, all-r.Most))] {
		s := draft.Segment{
			Interval: balance.Interval{Lo: p.Lo, Hi: p.Hi}, To: r.Index[r.ring[owner(r.ring, p.Lo)].shard],
			Why: "it is among the coolest of too many that were moved, and goes home",
		}
		if r.Carry(p, []draft.Segment{s}) {
			r.frozen[p.Lo] = true
		}
	}
}

// hot is a hot item.
type hot struct {
	key    balance.Key
	load   float64
	weight uint64
	part   int // index of its slice
	to     int // index of its shard after the round
}

// play places the hottest items again.
func (r *round) play() {
	list, left := r.hottest()
	if len(list) == 0 {
		clear(r.frozen)
		r.Leave(0, "the cycle ends: all hot items that are known were considered")
		return
	}
	before := r.loads()
	after := r.place(list, before)
	gain, moving := r.above(before)-r.above(after), 0
	for _, v := range list {
		if v.to != r.Parts[v.part].At {
			moving++
		}
	}
	if gain < r.Gain || moving == 0 {
		clear(r.frozen)
		r.Leave(0, "the cycle ends: to place the %d hottest items anew, of those not considered yet, would gain %.4f mean loads of a shard, less than %.3g", len(list), max(0, gain), r.Gain)
		return
	}
	for _, v := range list {
		r.frozen[v.key] = true
	}
	r.Leave(0, "%d of the %d hottest items move, which gains %.4f mean loads of a shard; %d hot items are left for this cycle", moving, len(list), gain, left)
	r.takeOut(list)
	if left == 0 || len(r.frozen) > mostFrozen-r.Hottest {
		clear(r.frozen)
		r.Leave(0, "the cycle ends: all hot items that are known were considered, or as many as are remembered")
	}
}

// hottest returns the hottest items that are neither frozen nor moving, the hottest
// first, and the number of other hot items.
func (r *round) hottest() (list []hot, left int) {
	at := 0
	hotter := func(a, b hot) int { return cmp.Or(cmp.Compare(b.load, a.load), cmp.Compare(a.key, b.key)) }
	r.In.Loads.Hot(0, balance.MaxKey, func(k balance.Key, load float64) bool {
		for r.Parts[at].Hi < k {
			at++
		}
		if p := &r.Parts[at]; load > 0 && !p.Busy && !r.frozen[k] {
			v := hot{key: k, load: load, part: at, to: p.At}
			if i, _ := slices.BinarySearchFunc(list, v, hotter); i < r.Hottest {
				list = slices.Insert(list, i, v)
			}
			if len(list) > r.Hottest {
				list = list[:r.Hottest]
			}
			left++
		}
		return true
	})
	left -= len(list)
	known := list[:0]
	for _, v := range list {
		r.In.Items.Ascend(v.key, v.key, func(_ balance.Key, w uint32) bool {
			v.weight = uint64(w)
			known = append(known, v)
			return false
		})
	}
	return known, left
}

// loads returns the loads of the shards.
func (r *round) loads() []float64 {
	list := make([]float64, len(r.Shards))
	for i := range list {
		list[i] = r.Shards[i].Load
	}
	return list
}

// above returns the load above the mean, summed over all shards, in mean loads of a
// shard.
func (r *round) above(loads []float64) (sum float64) {
	for i, v := range loads {
		sum += max(0, v-r.Mean*r.Shards[i].Share)
	}
	return r.OfMean(sum)
}

// place decides where hot items go, and returns the resulting loads of the shards. All hot items are taken off their shards and then
// put back one by one, the hottest first. Each goes to its own shard if the load of that shard with it is at most the mean, otherwise
// to the shard that would be coolest with it.
func (r *round) place(list []hot, before []float64) (loads []float64) {
	loads = slices.Clone(before)
	for _, v := range list {
		loads[r.Parts[v.part].At] -= v.load
	}
	weights, items, weight := make([]uint64, len(loads)), 0, uint64(0)
	for i := range list {
		v := &list[i]
		from := v.to
		goes := func(n int) bool {
			ok, _ := r.May(r.Parts[v.part].ID, n)
			return ok && r.Shards[n].Room(weights[n]+v.weight) && r.Affords(items+1, weight+v.weight)
		}
		v.to = r.coolest(v, loads, goes)
		if loads[v.to] += v.load; v.to != from {
			weights[v.to] += v.weight
			items, weight = items+1, weight+v.weight
		}
	}
	return loads
}

// coolest returns the shard for a hot item.
func (r *round) coolest(v *hot, loads []float64, goes func(int) bool) int {
	best := v.to
	least := (loads[best] + v.load) / r.Shards[best].Share
	if least <= r.Mean {
		return best
	}
	for n := range loads {
		if heat := (loads[n] + v.load) / r.Shards[n].Share; heat < least && goes(n) {
			best, least = n, heat
		}
	}
	return best
}

// takeOut makes slices of the items that move, and starts their moves.
func (r *round) takeOut(list []hot) {
	slices.SortFunc(list, func(a, b hot) int { return cmp.Compare(a.key, b.key) })
	for begin := 0; begin < len(list); {
		p := &r.Parts[list[begin].part]
		var cut []draft.Segment
		next, end := p.Lo, begin
		for ; end < len(list) && list[end].part == list[begin].part; end++ {
			v := list[end]
			if v.to == p.At {
				r.Stay(p, "item %d, %.3f x the mean load of a shard, stays on shard %s: no other is cooler with it", r.In.Order.Item(v.key), r.OfMean(v.load), r.Shards[p.At].Name)
				continue
			}
			if next < v.key {
				cut = append(cut, draft.Segment{Interval: balance.Interval{Lo: next, Hi: v.key - 1}, To: p.At})
			}
			cut = append(cut, draft.Segment{
				Interval: balance.Interval{Lo: v.key, Hi: v.key}, To: v.to,
				Why: fmt.Sprintf("item %d, %.3f x the mean load of a shard, is among the hottest that were not considered yet", r.In.Order.Item(v.key), r.OfMean(v.load)),
			})
			next = v.key + 1
		}
		if n := len(cut); n > 0 && cut[n-1].Hi < p.Hi {
			cut = append(cut, draft.Segment{Interval: balance.Interval{Lo: next, Hi: p.Hi}, To: p.At})
		}
		if len(cut) > 0 {
			r.Carry(p, cut)
		}
		begin = end
	}
}

// memory returns the frozen items, in ascending order of keys.
func (r *round) memory() (b []byte) {
	for _, k := range slices.Sorted(maps.Keys(r.frozen)) {
		b = binary.BigEndian.AppendUint64(b, uint64(k))
	}
	return b
}

// frozenItems decodes a memory. If it cannot be decoded, no items are frozen.
func frozenItems(memory []byte) map[balance.Key]bool {
	frozen := make(map[balance.Key]bool)
	for ; len(memory) >= 8; memory = memory[8:] {
		frozen[balance.Key(binary.BigEndian.Uint64(memory))] = true
	}
	return frozen
}
