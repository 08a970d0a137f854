package scorer

import "slices"

// trees are symmetric trees: all nodes of a level have the same split, so the answers to the splits form the
// number of the leaf.
type trees struct {
	list   []tree
	splits []split // of all trees, one after another
	leaves []int32 // likewise
}

// tree is the position of a tree's splits and leaves. The number of its leaves is 2 to the power of the number
// of its splits.
type tree struct{ split, splits, leaf int }

// split asks whether a feature's value is above a number.
type split struct {
	of    feature
	above uint64
}

// add adds a tree.
func (t *trees) add(splits []split, leaves []int32) {
	t.list = append(t.list, tree{len(t.splits), len(splits), len(t.leaves)})
	t.splits, t.leaves = append(t.splits, splits...), append(t.leaves, leaves...)
}

// sum returns what all trees add together.
func (t *trees) sum(at *[numbers]uint64) (z int64) {
	for i := range t.list {
		of := &t.list[i]
		leaf := 0
		for bit, s := range t.splits[of.split : of.split+of.splits] {
			if at[s.of] > s.above {
				leaf |= 1 << bit
			}
		}
		z += int64(t.leaves[of.leaf+leaf])
	}
	return z
}

// most returns the largest sum that all trees can add.
func (t *trees) most() (z int64) {
	for _, of := range t.list {
		z += int64(slices.Max(t.leaves[of.leaf : of.leaf+1<<of.splits]))
	}
	return z
}
