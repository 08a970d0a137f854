package strategy

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const originalName = "original"

// Original is the user balancer of the original system (thesis 2.4). It packs whole
// owners (advertisers) by weight, the heaviest first: each goes to the shard that has
// the least weight at that time (longest processing time first, Graham 1969). The
// flavour computes an item's weight from its numbers of keywords, ads and lexicon
// entries.
//
// It plans at the start, and again in each night. The night begins at Hour, UTC, and
// lasts Hours hours; if Hours is 0, it never plans again. A plan ignores where data
// are. Each iteration carries out as much of it as the budget allows, until the night
// ends or as much has moved as there is: weights that change in the meantime change the
// plan. Nothing else moves. A night is left out if no balancer ran, or another strategy
// was in use, at its beginning.
//
// An owner that comes during the day gets a more or less random shard at once: shards
// are drawn, by their shares, for the keys between owners (the thesis does not say how
// it finds the shard). Each such place is a slice. So, if there are more than
// mostPlaces owners, or no night that would pack newcomers, these keys belong to the
// owner before them.
//
// Owners are intervals of keys only in the order ByOwner. In other orders the ring is
// cut once, into one run of keys of equal weight per shard, and the first reason says
// so.
type Original struct{ Hour, Hours int }

// mostPlaces is the greatest number of owners with places for newcomers between them.
const mostPlaces = 50_000

func readOriginal(r *options.Reader) Original {
	o := Original{Hour: 3, Hours: 3}
	r.Count(&o.Hour, "hour", 23, "hour, UTC, at which the night begins, in which it plans anew")
	r.Count(&o.Hours, "hours", 24, "hours that the night lasts; 0: it plans only once")
	return o
}

// Name implements balance.Strategy.
func (Original) Name() string { return originalName }

// Initial implements balance.Strategy.
func (o Original) Initial(in balance.Input) (balance.Proposal, error) {
	var pieces []draft.Piece
	var left []balance.Reason
	switch _, _, whole := in.Order.OwnerOf(0); {
	case !whole:
		pieces = draft.EvenRuns(in)
		left = draft.LeftAsIs(fmt.Sprintf("the order %q has no whole owners; each shard gets one run of keys of equal weight", in.Order))
	case in.Items.Len() == 0:
		pieces = draft.EvenRuns(in)
		left = draft.LeftAsIs("there are no items yet; each shard gets one run of keys of equal width for the owners to come")
	default:
		pieces, left = o.plan(in)
	}
	p, err := draft.Lay(in, pieces, true)
	p.Reasons = append(left, p.Reasons...)
	if n, _, ok := o.night(in.Time); ok && o.Hours > 0 {
		p.Memory = night{number: n}.memory()
	}
	return p, err
}

// Iterate implements balance.Strategy.
func (o Original) Iterate(in balance.Input) (balance.Proposal, error) {
	b := draft.New(in, 1)
	memory, why := o.plansAnew(b)
	if why != "" {
		b.Measured()
		_, ratio := b.HottestShard()
		b.Leave(0, "moves nothing: %s; max/mean is %.3f", why, ratio)
	}
	p := b.Proposal()
	p.Memory = memory
	return p, nil
}

// plansAnew moves owners to where a new plan has them, or says why it is not the time
// for this. It returns the new memory.
func (o Original) plansAnew(b *draft.Draft) (memory []byte, why string) {
	number, now, ok := o.night(b.In.Time)
	last, known := readNight(b.In.Memory)
	_, _, whole := b.In.Order.OwnerOf(0)
	switch {
	case o.Hours == 0 || !whole:
		return nil, "it has planned once, at the start"
	case !ok:
		return b.In.Memory, "the time of day is not known, so that it cannot be night"
	case !known:
		return night{number: number}.memory(), fmt.Sprintf("it plans anew in the night that begins at %d:00 UTC", o.Hour)
	case !now:
		return b.In.Memory, fmt.Sprintf("it plans anew in the night that begins at %d:00 UTC", o.Hour)
	case last.number != number:
		last = night{number: number, left: max(1, b.Weight)}
	}
	switch {
	case last.left == 0:
		return last.memory(), "this night's plan is carried out"
	case b.Active == 0 || b.Items == 0:
		return last.memory(), "there is nothing to place"
	}
	if o.carryOut(b) {
		last.left = 0
	}
	last.left -= min(last.left, uint64(b.MovedWeight))
	return last.memory(), ""
}

// carryOut makes a plan and moves what is elsewhere. It reports whether everything is
// in its place.
func (o Original) carryOut(b *draft.Draft) (done bool) {
	want, left := o.plan(b.In)
	b.Reasons = append(b.Reasons, left...)
	want = slices.CompactFunc(want, func(a, b draft.Piece) bool { return a.Shard == b.Shard })
	elsewhere, byWeight := b.Elsewhere(want), b.In
	byWeight.Loads = nil
	_, least := load.LeastMove(byWeight, 0.01)
	b.Leave(0, "the plan of the night: %.3f %% of all weight is elsewhere than it should be; to even out the weights as well, %.3f %% would have to move",
		100*b.Cost(0, elsewhere), 100*least)
	done = !slices.ContainsFunc(b.Parts, func(p draft.Part) bool { return p.Busy })
	b.Toward(want)
	b.Join(want)
	return done && len(b.Ops) == 0 && b.Staying == 0
}

// night is the memory of Original: a night, and the weight that may still move in it.
// left is 0 once the plan is carried out.
type night struct {
	number int64
	left   uint64
}

// night returns the number of the last night that has begun, and whether it is night
// now. ok is false if the clock is not set.
func (o Original) night(at time.Time) (number int64, now, ok bool) {
	const hour, day = 3600, 24 * 3600
	since := at.Unix() - int64(o.Hour)*hour
	if at.Unix() < 0 {
		return 0, false, false
	}
	number = (since+day)/day - 1 // the first night of 1970 is night 0
	return number, since-number*day < int64(o.Hours)*hour, true
}

func (n night) memory() []byte {
	return binary.AppendUvarint(binary.AppendVarint(nil, n.number), n.left)
}

// readNight decodes a memory. ok is false if there is none, or it is that of another
// strategy.
func readNight(memory []byte) (n night, ok bool) {
	var a, b int
	n.number, a = binary.Varint(memory)
	if a <= 0 {
		return night{}, false
	}
	n.left, b = binary.Uvarint(memory[a:])
	return n, b > 0 && a+b == len(memory)
}

// plan packs whole owners, and draws shards for the keys between them.
func (o Original) plan(in balance.Input) (list []draft.Piece, left []balance.Reason) {
	list, left = pack(in)
	if o.Hours == 0 || len(list) > mostPlaces {
		list[0].Lo = 0
		return list, left
	}
	b, next := draft.New(in, 1), balance.Key(0)
	for i := range b.Shards { // what the shards have now is not part of the plan
		b.Shards[i].Weight = 0
	}
	var all []draft.Piece
	for i, p := range list {
		if next < p.Lo {
			all = append(all, draft.Piece{Lo: next, Shard: b.Shards[Random{}.draw(b, next, 0)].ID, Why: "drawn at random for owners to come"})
		}
		all = append(all, p)
		if _, hi, _ := in.Order.OwnerOf(p.Lo); hi == balance.MaxKey {
			return all, left
		} else if next = hi + 1; i+1 == len(list) {
			all = append(all, draft.Piece{Lo: next, Shard: b.Shards[Random{}.draw(b, next, 0)].ID, Why: "drawn at random for owners to come"})
		}
	}
	return all, left
}

// pack assigns whole owners to shards, the heaviest first.
func pack(in balance.Input) (list []draft.Piece, left []balance.Reason) {
	list = draft.Owners(in)
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[b].Weight, list[a].Weight), cmp.Compare(list[a].Lo, list[b].Lo))
	})
	bins := newBins(in)
	for _, i := range order {
		p := &list[i]
		b, fits := bins.take(p.Weight)
		p.Shard = b.shard
		p.Why = fmt.Sprintf("owner of weight %d goes to shard %d, the least loaded one", p.Weight, b.shard)
		if !fits {
			left = append(left, balance.Reason{Op: -1, Text: fmt.Sprintf(
				"owner at %x of weight %d exceeds the limit of every shard; it goes to shard %d anyway", uint64(p.Lo), p.Weight, b.shard)})
		}
	}
	return list, left
}
