package strategy

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

const originalName = "original"

// Original is the user balancer of the original system (thesis 2.4): whole
// owners (advertisers) are packed by weight, the heaviest first, each onto the
// node that then has the least (longest processing time first, Graham 1969).
// An item's weight is made by the flavour from its numbers of keywords, ads
// and lexicon entries.
//
// It plans at the start, and anew in the night that begins at Hour, UTC, and lasts
// Hours; with Hours 0 never again. A plan ignores where data lie. It is carried out as
// far as the budget of each iteration goes, until the night ends or as much has moved
// as there is: weights that change meanwhile change the plan. Nothing else moves. A
// night in which no balancer ran, or this strategy was not in use at its beginning, is
// left out.
//
// An owner that comes during the day gets a more or less random node at once: the keys
// between owners are drawn for nodes, by their shares (the thesis does not say how its
// node is found). With more owners than mostPlaces, or without a night that would pack
// newcomers, such keys belong to the owner before them, since each place is a slice.
//
// Owners are intervals of keys only in the order ByOwner. In the order ByHash
// the ring is cut into one run of keys a node, of equal weight, once, and the first
// reason says so.
type Original struct{ Hour, Hours int }

// mostPlaces is the most owners that have places for others between them.
const mostPlaces = 50_000

func readOriginal(r *reader) Original {
	o := Original{Hour: 3, Hours: 3}
	r.count(&o.Hour, "hour", 23, "hour, UTC, at which the night begins, in which it plans anew")
	r.count(&o.Hours, "hours", 24, "hours that the night lasts; 0: it plans only once")
	return o
}

// Name implements balance.Strategy.
func (Original) Name() string { return originalName }

// Initial implements balance.Strategy.
func (o Original) Initial(in balance.Input) (balance.Proposal, error) {
	var pieces []piece
	var left []balance.Reason
	switch _, _, whole := in.Order.OwnerOf(0); {
	case !whole:
		pieces = cut(in)
		left = leave("the order \"hash\" has no whole owners; each node gets one run of keys of equal weight")
	case in.Items.Len() == 0:
		pieces = cut(in)
		left = leave("there are no items yet; each node gets one run of keys of equal width for the owners to come")
	default:
		pieces, left = o.plan(in)
	}
	p, err := lay(in, pieces, true)
	p.Reasons = append(left, p.Reasons...)
	if n, _, ok := o.night(in.Time); ok && o.Hours > 0 {
		p.Memory = night{number: n}.memory()
	}
	return p, err
}

// Iterate implements balance.Strategy.
func (o Original) Iterate(in balance.Input) (balance.Proposal, error) {
	b := newBoard(in, 1)
	memory, why := o.plansAnew(b)
	if why != "" {
		b.measured()
		_, ratio := b.hottest()
		b.leave(0, "moves nothing: %s; max/mean is %.3f", why, ratio)
	}
	p := b.proposal()
	p.Memory = memory
	return p, nil
}

// plansAnew moves what is elsewhere than a new plan has it, or says why it is not the
// time for that. It returns what to remember.
func (o Original) plansAnew(b *board) (memory []byte, why string) {
	number, now, ok := o.night(b.in.Time)
	last, known := readNight(b.in.Memory)
	_, _, whole := b.in.Order.OwnerOf(0)
	switch {
	case o.Hours == 0 || !whole:
		return nil, "it has planned once, at the start"
	case !ok:
		return b.in.Memory, "the time of day is not known, so that it cannot be night"
	case !known:
		return night{number: number}.memory(), fmt.Sprintf("it plans anew in the night that begins at %d:00 UTC", o.Hour)
	case !now:
		return b.in.Memory, fmt.Sprintf("it plans anew in the night that begins at %d:00 UTC", o.Hour)
	case last.number != number:
		last = night{number: number, left: max(1, b.weight)}
	}
	switch {
	case last.left == 0:
		return last.memory(), "this night's plan is carried out"
	case b.active == 0 || b.items == 0:
		return last.memory(), "there is nothing to place"
	}
	if b.carryOut(o) {
		last.left = 0
	}
	last.left -= min(last.left, uint64(b.movedWeight))
	return last.memory(), ""
}

// carryOut plans and moves what is elsewhere; it reports whether all is in its place.
func (b *board) carryOut(o Original) (done bool) {
	want, left := o.plan(b.in)
	b.reasons = append(b.reasons, left...)
	want = slices.CompactFunc(want, func(a, b piece) bool { return a.node == b.node })
	elsewhere, byWeight := b.elsewhere(want), b.in
	byWeight.Loads = nil
	_, least := load.LeastMove(byWeight, 0.01)
	b.leave(0, "the plan of the night: %.3f %% of all weight is elsewhere than it should be; to even out the weights as well, %.3f %% would have to move",
		100*b.cost(0, elsewhere), 100*least)
	done = !slices.ContainsFunc(b.parts, func(p part) bool { return p.busy })
	b.toward(want)
	b.join(want)
	return done && len(b.ops) == 0 && b.staying == 0
}

// elsewhere is the weight of what is not where it should be.
func (b *board) elsewhere(want []piece) (weight uint64) {
	at, part := 0, 0
	b.in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for at+1 < len(want) && want[at+1].lo <= k {
			at++
		}
		for b.parts[part].Hi < k {
			part++
		}
		if b.nodes[b.parts[part].at].id != want[at].node {
			weight += uint64(w)
		}
		return true
	})
	return weight
}

// night is what Original remembers: a night, and the weight that may still move in it; 0:
// its plan is carried out.
type night struct {
	number int64
	left   uint64
}

// night returns the number of the last night that has begun, and whether it is night
// now; false if the clock is not set.
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

// readNight reads a memory; false: there is none, or it is another's.
func readNight(memory []byte) (n night, ok bool) {
	var a, b int
	n.number, a = binary.Varint(memory)
	if a <= 0 {
		return night{}, false
	}
	n.left, b = binary.Uvarint(memory[a:])
	return n, b > 0 && a+b == len(memory)
}

// piece is a run of keys from lo to the next piece's, and the node it goes to.
type piece struct {
	lo     balance.Key
	weight uint64
	node   balance.NodeID
	why    string
}

// owners sums the items' weights by owner, in ascending key order.
func owners(in balance.Input) []piece {
	var list []piece
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		lo, _, _ := in.Order.OwnerOf(k)
		if n := len(list); n == 0 || list[n-1].lo != lo {
			list = append(list, piece{lo: lo})
		}
		list[len(list)-1].weight += uint64(w)
		return true
	})
	return list
}

// plan packs whole owners, and draws nodes for the keys between them.
func (o Original) plan(in balance.Input) (list []piece, left []balance.Reason) {
	list, left = pack(in)
	if o.Hours == 0 || len(list) > mostPlaces {
		list[0].lo = 0
		return list, left
	}
	b, next := newBoard(in, 1), balance.Key(0)
	for i := range b.nodes { // what they have now is not planned
		b.nodes[i].weight = 0
	}
	var all []piece
	for i, p := range list {
		if next < p.lo {
			all = append(all, piece{lo: next, node: b.nodes[Random{}.draw(b, next, 0)].id, why: "drawn at random for owners to come"})
		}
		all = append(all, p)
		if _, hi, _ := in.Order.OwnerOf(p.lo); hi == balance.MaxKey {
			return all, left
		} else if next = hi + 1; i+1 == len(list) {
			all = append(all, piece{lo: next, node: b.nodes[Random{}.draw(b, next, 0)].id, why: "drawn at random for owners to come"})
		}
	}
	return all, left
}

// pack assigns whole owners, the heaviest first.
func pack(in balance.Input) (list []piece, left []balance.Reason) {
	list = owners(in)
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[b].weight, list[a].weight), cmp.Compare(list[a].lo, list[b].lo))
	})
	bins := newBins(in)
	for _, i := range order {
		p := &list[i]
		b, fits := bins.take(p.weight)
		p.node = b.node
		p.why = fmt.Sprintf("owner of weight %d goes to node %d, the least loaded one", p.weight, b.node)
		if !fits {
			left = append(left, balance.Reason{Op: -1, Text: fmt.Sprintf(
				"owner at %x of weight %d exceeds the limit of every node; it goes to node %d anyway", uint64(p.lo), p.weight, b.node)})
		}
	}
	return list, left
}

// cut makes one run of keys a node, by weight.
func cut(in balance.Input) []piece {
	nodes := in.Model.Nodes()
	var total, shares uint64
	in.Items.Ascend(0, balance.MaxKey, func(_ balance.Key, w uint32) bool {
		total += uint64(w)
		return true
	})
	for _, n := range nodes {
		shares += share(in, n.ID)
	}
	width := balance.MaxKey/balance.Key(len(nodes)) + 1
	list := []piece{{node: nodes[0].ID, why: "first run of keys"}}
	i, sum, upTo := 0, uint64(0), share(in, nodes[0].ID)
	next := func(lo balance.Key) {
		i++
		upTo += share(in, nodes[i].ID)
		list = append(list, piece{lo: lo, node: nodes[i].ID, why: fmt.Sprintf("run of keys for node %d", nodes[i].ID)})
	}
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for i+1 < len(nodes) && sum*shares >= total*upTo && k > list[i].lo {
			next(k)
		}
		sum += uint64(w)
		return i+1 < len(nodes)
	})
	for i+1 < len(nodes) { // fewer items than nodes
		lo := max(list[i].lo+1, width*balance.Key(i+1))
		if lo == 0 {
			break
		}
		next(lo)
	}
	return list
}

func leave(text string) []balance.Reason { return []balance.Reason{{Op: -1, Text: text}} }

// lay turns pieces into operations: each is a slice, or, joined, neighbours on
// one node are. The pieces' gaps belong to the piece before them.
func lay(in balance.Input, list []piece, joined bool) (balance.Proposal, error) {
	e := in.Model.Edit()
	var p balance.Proposal
	slice := in.Model.Slices()[0].ID
	last := balance.NodeID(0)
	for _, v := range list {
		if joined && v.node == last {
			continue
		}
		if last != 0 {
			right, err := e.Split(slice, v.lo)
			if err != nil {
				return p, err
			}
			slice = right
		}
		if s, _ := e.Slice(slice); s.Node != v.node {
			if err := e.Map(slice, v.node); err != nil {
				return p, err
			}
			p.Reasons = append(p.Reasons, balance.Reason{Op: len(e.Ops()) - 1, Text: v.why})
		}
		last = v.node
	}
	p.Ops = e.Ops()
	model, err := e.Model()
	if err != nil {
		return p, err
	}
	p.Expected = load.EvennessOfWeights(model, in.Items, in.Limits)
	return p, nil
}
