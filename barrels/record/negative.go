package record

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/schema/pb"
	"adshard/search"
)

// Negatives are the enabled negative keywords of one owner. They are sorted by the hash of their
// first word, so that a query looks only at those whose first word it contains.
type Negatives []*pb.Negative

// fewNegatives is the number of negatives up to which looking at each is cheaper than searching.
const fewNegatives = 8

// CompileNegatives returns the enabled negatives of an owner.
func CompileNegatives(list []*pb.Negative) Negatives {
	var out Negatives
	for _, n := range list {
		if n.Enabled && len(n.Norm) > 0 {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b *pb.Negative) int {
		return cmp.Or(cmp.Compare(a.Norm[0], b.Norm[0]), cmp.Compare(a.Id, b.Id))
	})
	return out
}

// Same reports whether two lists block the same queries by the same negatives.
func (l Negatives) Same(m Negatives) bool {
	return slices.EqualFunc(l, m, func(a, b *pb.Negative) bool { return proto.Equal(a, b) })
}

// Block reports whether any of the negatives blocks the query.
func (l Negatives) Block(q *search.Query) bool {
	if len(l) <= fewNegatives {
		return l.First(q) != nil
	}
	for _, w := range q.Words {
		if l.blockFrom(q, w.Norm) {
			return true
		}
	}
	for i := range q.Runs {
		if l.blockFrom(q, q.Runs[i].Norm) {
			return true
		}
	}
	return false
}

// blockFrom reports whether any of the negatives with this first word blocks the query.
func (l Negatives) blockFrom(q *search.Query, first uint64) bool {
	i, _ := slices.BinarySearchFunc(l, first, func(n *pb.Negative, h uint64) int {
		return cmp.Compare(n.Norm[0], h)
	})
	for ; i < len(l) && l[i].Norm[0] == first; i++ {
		if blocks(q, l[i]) {
			return true
		}
	}
	return false
}

// First returns the blocking negative with the lowest id, or nil if none blocks.
func (l Negatives) First(q *search.Query) *pb.Negative {
	var found *pb.Negative
	for _, n := range l {
		if (found == nil || n.Id < found.Id) && blocks(q, n) {
			found = n
		}
	}
	return found
}

func blocks(q *search.Query, n *pb.Negative) bool {
	return q.BlockedBy(search.MatchType(n.Type), n.Norm)
}
