package barrels

import "adshard/schema/pb"

// Parts returns one part of the keywords of a group that arrives in parts. Parts are numbered from
// 0, by ascending keyword ids.
type Parts func(it *pb.Item, part uint32) ([]*pb.Keyword, error)

// incoming holds the keywords that a group is to have, by ascending ids.
type incoming struct {
	list  []*pb.Keyword // the next keywords
	item  *pb.Item
	parts Parts
	part  uint32 // the next part
	slab  []keyword
}

// newIncoming returns the keywords of an item. A nil item has none.
func newIncoming(it *pb.Item, parts Parts) *incoming {
	return &incoming{list: it.GetKeywords(), item: it, parts: parts}
}

// more reports whether there is another keyword, which is then list[0].
func (in *incoming) more() (bool, error) {
	for len(in.list) == 0 && in.part < in.item.GetParts() {
		list, err := in.parts(in.item, in.part)
		if err != nil {
			return false, err
		}
		in.list, in.slab = list, nil
		in.part++
	}
	return len(in.list) > 0, nil
}

// pop takes the next keyword.
func (in *incoming) pop() *keyword {
	if len(in.slab) == 0 {
		in.slab = make([]keyword, len(in.list))
	}
	k := &in.slab[0]
	k.pb = in.list[0]
	in.slab, in.list = in.slab[1:], in.list[1:]
	return k
}

// room writes what was compared of a group so far once that is a whole stretch.
func (w *batchWriter) room(g *groupChange) error {
	if w.onStretch == nil || g.compared-g.turned < stretch {
		return nil
	}
	return w.onStretch(g)
}
