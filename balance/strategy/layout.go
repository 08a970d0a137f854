package strategy

import (
	"fmt"

	"adshard/balance"
	"adshard/balance/load"
)

// layout is where a strategy that ignores the load has all keys.
type layout interface {
	// pieces returns the whole ring; neighbours may be on one node.
	pieces() []piece
	// next returns the node for a run of keys that the strategy prefers among those
	// that are good; 0: none is.
	next(keys balance.Interval, good func(balance.NodeID) bool) balance.NodeID
}

// begin is the first plan of a layout. What exceeds a node's limit of weight goes to
// the node that the layout prefers next.
func begin(in balance.Input, l layout) (balance.Proposal, error) {
	list := l.pieces()
	weights, at := make([]uint64, len(list)), 0
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for at+1 < len(list) && list[at+1].lo <= k {
			at++
		}
		weights[at] += uint64(w)
		return true
	})
	has := make(map[balance.NodeID]uint64)
	for i := range list {
		room := func(n balance.NodeID) bool {
			limit := in.Limits[n].Weight
			return limit == 0 || has[n]+weights[i] <= limit
		}
		if p := &list[i]; !room(p.node) {
			if n := l.next(piecesKeys(list, i), room); n != 0 {
				p.node, p.why = n, fmt.Sprintf("%s, which is full; node %d is the next one with room", p.why, n)
			}
		}
		has[list[i].node] += weights[i]
	}
	return lay(in, list, false)
}

// piecesKeys returns the keys of a piece.
func piecesKeys(list []piece, i int) balance.Interval {
	hi := balance.MaxKey
	if i+1 < len(list) {
		hi = list[i+1].lo - 1
	}
	return balance.Interval{Lo: list[i].lo, Hi: hi}
}

// refuges returns where a layout has slices whose nodes leave.
func refuges(in balance.Input, leaving []balance.Slice, l layout) []balance.NodeID {
	out, left := make([]balance.NodeID, len(leaving)), make(map[balance.NodeID]bool)
	for _, s := range leaving {
		left[s.Node] = true
	}
	for i, s := range leaving {
		out[i] = l.next(balance.Interval{Lo: s.Lo, Hi: s.Hi}, func(n balance.NodeID) bool {
			if left[n] || in.May == nil {
				return !left[n]
			}
			ok, _ := in.May(s.ID, n)
			return ok
		})
	}
	return out
}

// follow is an iteration of a layout: what is elsewhere moves, as far as the budget
// goes, and pieces that were cut merge again.
func follow(in balance.Input, l layout) (balance.Proposal, error) {
	b := newBoard(in, 1)
	if b.active == 0 {
		b.leave(0, "no node is active")
		return b.proposal(), nil
	}
	want := l.pieces()
	b.toward(want)
	b.join(want)
	if len(b.ops) == 0 {
		_, ratio := b.hottest()
		b.leave(0, "nothing to move or to merge; the load is ignored, max/mean is %.3f", ratio)
	}
	return b.proposal(), nil
}

// segment is a part of a slice and the node that it goes to.
type segment struct {
	balance.Interval
	load.SliceSum
	to    int
	why   string
	stays bool // it cannot go there now
}

// toward starts to move what is not where it should be.
func (b *board) toward(want []piece) {
	at := 0
	for i := range b.parts {
		p := &b.parts[i]
		for at+1 < len(want) && want[at+1].lo <= p.Lo {
			at++
		}
		if !p.busy {
			b.carry(p, b.segments(p, want[at:]))
		}
	}
}

// segments divides a slice among the nodes that its keys belong to; want begins at
// the slice or before it.
func (b *board) segments(p *part, want []piece) (list []segment) {
	for i := 0; i < len(want) && want[i].lo <= p.Hi; i++ {
		keys, to := piecesKeys(want, i), b.index[want[i].node]
		keys.Lo, keys.Hi = max(keys.Lo, p.Lo), min(keys.Hi, p.Hi)
		if n := len(list); n > 0 && list[n-1].to == to {
			list[n-1].Hi = keys.Hi
			continue
		}
		list = append(list, segment{Interval: keys, to: to, why: want[i].why})
	}
	return list
}

// weigh sums what lies in segments of a slice.
func (b *board) weigh(p *part, list []segment) {
	if len(list) == 1 {
		list[0].SliceSum = p.SliceSum
		return
	}
	at := 0
	for _, v := range load.OfItems(b.in, p.Slice, nil) {
		for list[at].Hi < v.Key {
			at++
		}
		list[at].add(v)
	}
}

func (s *segment) add(v load.Item) {
	s.Items++
	s.Weight += uint64(v.Weight)
	s.Load += v.Load
}

// carry splits a slice into segments and starts to move those that can go where they
// belong. When nothing moves in this iteration yet, a segment that exceeds the budget
// is cut, so that it does not stay for ever.
func (b *board) carry(p *part, list []segment) (started bool) {
	if len(list) == 1 && list[0].to == p.at {
		return false
	}
	b.weigh(p, list)
	var runs []segment
	var went load.SliceSum
	for _, s := range list {
		first := len(b.ops) == 0 && went.Items == 0
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
	p.busy = true
	ids, id := make([]uint64, len(runs)), p.ID
	for i, s := range runs {
		if i > 0 {
			right, ok := b.split(id, s.Lo, "slice %d is cut where another node's keys begin", p.ID)
			if !ok {
				return true
			}
			id = right
			b.nodes[p.at].slices++
		}
		ids[i] = id
	}
	for i, s := range runs {
		if !s.stays {
			b.start(ids[i], s.to, "%d items go from node %s to node %s: %s", s.Items, b.nodes[p.at].name, b.nodes[s.to].name, s.why)
			b.nodes[p.at].slices--
			b.shift(p.at, s.to, s.Items, s.Weight, s.Load)
		}
	}
	return true
}

// permit returns a segment with stays set if it cannot move, in two if a part can. went
// is what else of the slice moves, first that nothing else moves in this iteration.
func (b *board) permit(p *part, s segment, went load.SliceSum, first bool) []segment {
	if s.to == p.at {
		s.stays = true
		return []segment{s}
	}
	to := &b.nodes[s.to]
	room := func(s *segment) bool { return to.room(went.Weight + s.Weight) }
	fits := func(s *segment) bool { return b.affords(went.Items+s.Items, went.Weight+s.Weight) }
	ok, why := b.may(p.ID, s.to)
	switch {
	case ok && room(&s) && fits(&s):
		return []segment{s}
	case ok && room(&s) && first && s.Items > 1:
		if list := b.trim(s, p, fits); len(list) > 1 {
			return list
		}
		why = "its first item alone exceeds what may move at once"
	case ok && !room(&s):
		why = "the node has no room for its weight"
	case ok:
		why = "it waits for the budget"
	}
	b.stay(p, "%d items of slice %d belong on node %s and stay: %s", s.Items, p.ID, to.name, why)
	s.stays = true
	return []segment{s}
}

// trim cuts a segment where it no longer fits.
func (b *board) trim(s segment, p *part, fits func(*segment) bool) []segment {
	left, right := s, s
	left.SliceSum, right.SliceSum, right.stays = load.SliceSum{}, load.SliceSum{}, true
	for _, v := range load.OfItems(b.in, p.Slice, nil) {
		if v.Key < s.Lo || v.Key > s.Hi {
			continue
		}
		if right.Items == 0 {
			more := left
			if more.add(v); fits(&more) {
				left = more
				continue
			}
			if left.Items == 0 {
				return nil
			}
			left.Hi, right.Lo = v.Key-1, v.Key
		}
		right.add(v)
	}
	return []segment{left, right}
}

// mostStaying is how many slices that stay are explained in an iteration.
const mostStaying = 20

// stay explains why a slice stays where it is.
func (b *board) stay(p *part, format string, args ...any) {
	if b.staying++; b.staying <= mostStaying {
		b.leave(p.ID, format, args...)
	}
}

// join merges neighbours on one node, unless one of the pieces begins between them;
// without pieces, all.
func (b *board) join(want []piece) {
	at := 0
	for i := 1; i < len(b.parts); i++ {
		left, right := &b.parts[i-1], &b.parts[i]
		for at < len(want) && want[at].lo < right.Lo {
			at++
		}
		border := at < len(want) && want[at].lo == right.Lo
		if left.busy || right.busy || left.at != right.at || border {
			continue
		}
		if b.merge(left.ID, right.ID, "slices %d and %d lie side by side on node %s and become one", left.ID, right.ID, b.nodes[right.at].name) {
			b.nodes[right.at].slices--
			right.ID, right.Lo, right.merged, left.gone = left.ID, left.Lo, true, true
			right.Items, right.Weight, right.Load = right.Items+left.Items, right.Weight+left.Weight, right.Load+left.Load
		}
	}
}
