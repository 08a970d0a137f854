package draft

import (
	"fmt"

	"adshard/balance"
	"adshard/balance/load"
)

// Layout says where a strategy that ignores the load has all keys.
type Layout interface {
	// Pieces returns pieces that cover the whole ring. Neighbours may be on the same shard.
	Pieces() []Piece
	// Next returns the shard that the strategy prefers for a run of keys, among the
	// shards that are good, or 0 if none is.
	Next(keys balance.Interval, good func(balance.ShardID) bool) balance.ShardID
}

// Initial returns the first plan of a layout. Pieces that exceed a shard's limit of
// weight go to the shard that the layout prefers next.
func Initial(in balance.Input, l Layout) (balance.Proposal, error) {
	list := l.Pieces()
	weights, at := make([]uint64, len(list)), 0
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for at+1 < len(list) && list[at+1].Lo <= k {
			at++
		}
		weights[at] += uint64(w)
		return true
	})
	has := make(map[balance.ShardID]uint64)
	for i := range list {
		room := func(shard balance.ShardID) bool {
			limit := in.Limits[shard].Weight
			return limit == 0 || has[shard]+weights[i] <= limit
		}
		if p := &list[i]; !room(p.Shard) {
			if shard := l.Next(piecesKeys(list, i), room); shard != 0 {
				p.Shard, p.Why = shard, fmt.Sprintf("%s, which is full; shard %d is the next one with room", p.Why, shard)
			}
		}
		has[list[i].Shard] += weights[i]
	}
	return Lay(in, list, false)
}

// piecesKeys returns the keys of a piece.
func piecesKeys(list []Piece, i int) balance.Interval {
	hi := balance.MaxKey
	if i+1 < len(list) {
		hi = list[i+1].Lo - 1
	}
	return balance.Interval{Lo: list[i].Lo, Hi: hi}
}

// Refuges returns where a layout puts slices that must leave their shards.
func Refuges(in balance.Input, leaving []balance.Slice, l Layout) []balance.ShardID {
	out, left := make([]balance.ShardID, len(leaving)), make(map[balance.ShardID]bool)
	for _, s := range leaving {
		left[s.Shard] = true
	}
	for i, s := range leaving {
		out[i] = l.Next(balance.Interval{Lo: s.Lo, Hi: s.Hi}, func(shard balance.ShardID) bool {
			if left[shard] || in.May == nil {
				return !left[shard]
			}
			ok, _ := in.May(s.ID, shard)
			return ok
		})
	}
	return out
}

// Iterate returns the proposal of an iteration: items that are elsewhere move, as far
// as the budget allows, and pieces that were cut are merged again.
func Iterate(in balance.Input, l Layout) (balance.Proposal, error) {
	b := New(in, 1)
	if b.Active == 0 {
		b.Leave(0, "no shard is active")
		return b.Proposal(), nil
	}
	want := l.Pieces()
	b.Toward(want)
	b.Join(want)
	if len(b.Ops) == 0 {
		_, ratio := b.HottestShard()
		b.Leave(0, "nothing to move or to merge; the load is ignored, max/mean is %.3f", ratio)
	}
	return b.Proposal(), nil
}

// Segment is a part of a slice, and the shard to which it goes.
type Segment struct {
	balance.Interval
	load.SliceSum
	To    int
	Why   string
	stays bool // it cannot go there now
}

// Toward starts to move the keys that are not where they should be.
func (b *Draft) Toward(want []Piece) {
	at := 0
	for i := range b.Parts {
		p := &b.Parts[i]
		for at+1 < len(want) && want[at+1].Lo <= p.Lo {
			at++
		}
		if !p.Busy {
			b.Carry(p, b.segments(p, want[at:]))
		}
	}
}

// segments divides a slice among the shards to which its keys belong. want must begin
// at the slice or before it.
func (b *Draft) segments(p *Part, want []Piece) (list []Segment) {
	for i := 0; i < len(want) && want[i].Lo <= p.Hi; i++ {
		keys, to := piecesKeys(want, i), b.Index[want[i].Shard]
		keys.Lo, keys.Hi = max(keys.Lo, p.Lo), min(keys.Hi, p.Hi)
		if n := len(list); n > 0 && list[n-1].To == to {
			list[n-1].Hi = keys.Hi
			continue
		}
		list = append(list, Segment{Interval: keys, To: to, Why: want[i].Why})
	}
	return list
}

// weigh computes the sums of the segments of a slice.
func (b *Draft) weigh(p *Part, list []Segment) {
	if len(list) == 1 {
		list[0].SliceSum = p.SliceSum
		return
	}
	at := 0
	for _, v := range load.OfItems(b.In, p.Slice, nil) {
		for list[at].Hi < v.Key {
			at++
		}
		list[at].Add(v)
	}
}

// Add adds an item to the sums.
func (s *Segment) Add(v load.Item) {
	s.Items++
	s.Weight += uint64(v.Weight)
	s.Load += v.Load
}

// Carry splits a slice into segments and starts to move those that may go where they
// belong. If nothing else moves in this iteration, a segment that exceeds the budget is
// cut, so that it does not stay for ever.
func (b *Draft) Carry(p *Part, list []Segment) (started bool) {
	if len(list) == 1 && list[0].To == p.At {
		return false
	}
	b.weigh(p, list)
	var runs []Segment
	var went load.SliceSum
	for _, s := range list {
		first := len(b.Ops) == 0 && went.Items == 0
		for _, s := range b.permit(p, s, went, first) {
			if !s.stays {
				went.Items, went.Weight = went.Items+s.Items, went.Weight+s.Weight
				started = true
			}
			if n := len(runs); n > 0 && runs[n-1].stays && s.stays {
				runs[n-1].Hi = s.Hi
				continue
			}
			runs = append(runs, s)
		}
	}
	if !started {
		return false
	}
	p.Busy = true
	ids, id := make([]uint64, len(runs)), p.ID
	for i, s := range runs {
		if i > 0 {
			right, ok := b.Split(id, s.Lo, "slice %d is cut where another shard's keys begin", p.ID)
			if !ok {
				return true
			}
			id = right
			b.Shards[p.At].Slices++
		}
		ids[i] = id
	}
	for i, s := range runs {
		if !s.stays {
			b.Start(ids[i], s.To, "%d items go from shard %s to shard %s: %s", s.Items, b.Shards[p.At].Name, b.Shards[s.To].Name, s.Why)
			b.Shards[p.At].Slices--
			b.Shift(p.At, s.To, s.Items, s.Weight, s.Load)
		}
	}
	return true
}

// permit returns a segment, with stays set if it cannot move; or two segments if only a
// part can. went is the sum of the other segments of the slice that move. first says
// that nothing else moves in this iteration.
func (b *Draft) permit(p *Part, s Segment, went load.SliceSum, first bool) []Segment {
	if s.To == p.At {
		s.stays = true
		return []Segment{s}
	}
	to := &b.Shards[s.To]
	room := func(s *Segment) bool { return to.Room(went.Weight + s.Weight) }
	fits := func(s *Segment) bool { return b.Affords(went.Items+s.Items, went.Weight+s.Weight) }
	ok, why := b.May(p.ID, s.To)
	switch {
	case ok && room(&s) && fits(&s):
		return []Segment{s}
	case ok && room(&s) && first && s.Items > 1:
		if list := b.trim(s, p, fits); len(list) > 1 {
			return list
		}
		why = "its first item alone exceeds what may move at once"
	case ok && !room(&s):
		why = "the shard has no room for its weight"
	case ok:
		why = "it waits for the budget"
	}
	b.Stay(p, "%d items of slice %d belong on shard %s and stay: %s", s.Items, p.ID, to.Name, why)
	s.stays = true
	return []Segment{s}
}

// trim cuts a segment in two, so that the first part fits.
func (b *Draft) trim(s Segment, p *Part, fits func(*Segment) bool) []Segment {
	left, right := s, s
	left.SliceSum, right.SliceSum, right.stays = load.SliceSum{}, load.SliceSum{}, true
	for _, v := range load.OfItems(b.In, p.Slice, nil) {
		if v.Key < s.Lo || v.Key > s.Hi {
			continue
		}
		if right.Items == 0 {
			more := left
			if more.Add(v); fits(&more) {
				left = more
				continue
			}
			if left.Items == 0 {
				return nil
			}
			left.Hi, right.Lo = v.Key-1, v.Key
		}
		right.Add(v)
	}
	return []Segment{left, right}
}

// MostStaying is the number of staying slices that are explained in an iteration.
const MostStaying = 20

// Stay explains why a slice stays where it is.
func (b *Draft) Stay(p *Part, format string, args ...any) {
	if b.Staying++; b.Staying <= MostStaying {
		b.Leave(p.ID, format, args...)
	}
}

// Join merges neighbours on the same shard, unless a piece begins between them. If want
// is empty, it merges all neighbours.
func (b *Draft) Join(want []Piece) {
	at := 0
	for i := 1; i < len(b.Parts); i++ {
		left, right := &b.Parts[i-1], &b.Parts[i]
		for at < len(want) && want[at].Lo < right.Lo {
			at++
		}
		border := at < len(want) && want[at].Lo == right.Lo
		if left.Busy || right.Busy || left.At != right.At || border {
			continue
		}
		if b.Merge(left.ID, right.ID, "slices %d and %d lie side by side on shard %s and become one", left.ID, right.ID, b.Shards[right.At].Name) {
			b.Shards[right.At].Slices--
			right.ID, right.Lo, right.Merged, left.Gone = left.ID, left.Lo, true, true
			right.Items, right.Weight, right.Load = right.Items+left.Items, right.Weight+left.Weight, right.Load+left.Load
		}
	}
}
