package strategy

import (
	"cmp"
	"fmt"
	"slices"

	"adshard/balance"
)

const originalName = "original"

// Original is the user balancer of the original system (thesis 2.4): whole
// owners (advertisers) are packed by weight, the heaviest first, each onto the
// node that then has the least (longest processing time first, Graham 1969).
// An item's weight is made by the flavour from its numbers of keywords, ads
// and lexicon entries. It plans once; owners that come later lie where the
// slice that covers their keys lies.
//
// Owners are intervals of keys only in the order ByOwner. In the order ByHash
// the ring is cut into one run of keys a node, of equal weight, and the first
// reason says so.
type Original struct{}

// Name implements balance.Strategy.
func (Original) Name() string { return originalName }

// Initial implements balance.Strategy.
func (Original) Initial(in balance.Input) (balance.Proposal, error) {
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
		pieces, left = pack(in)
	}
	p, err := lay(in, pieces, true)
	p.Reasons = append(left, p.Reasons...)
	return p, err
}

// Iterate implements balance.Strategy: it moves nothing and reports how evenly
// the load is spread.
func (Original) Iterate(in balance.Input) (balance.Proposal, error) {
	b := newBoard(in, 0)
	b.measured()
	p := b.proposal()
	b.leave(0, "plans once, at the start, and moves nothing; since then max/mean is %.3f", p.Expected.Ratio())
	p.Reasons = b.reasons
	return p, nil
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
	p.Expected = balance.Measure(model, in.Items, in.Limits)
	return p, nil
}
