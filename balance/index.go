package balance

import (
	"slices"
	"sort"
)

// Items is a read-only view of the items, in ascending order of keys.
type Items interface {
	Len() int
	// Ascend visits the items with keys from lo to hi, both inclusive, with their
	// weights, until visit returns false.
	Ascend(lo, hi Key, visit func(k Key, weight uint32) bool)
}

// Index is the ordered set of items with their weights: the in-memory map of thesis
// 6.3.2, in compact form. It has leaves of sorted keys. Full leaves take 12 bytes per
// item, and leaves after insertions in any order some 15: a full leaf gives items to a
// neighbour before it is split (as in B*-trees; Knuth, volume 3, 6.2.4).
type Index struct {
	leaves []*leaf // in ascending order of their first keys; none is empty
	n      int
}

// leafSize is the number of items in a full leaf, which has 6,144 bytes: one of the
// allocator's sizes. slack is the room that a neighbour must have before it is given
// items.
const (
	leafSize = 511
	slack    = leafSize / 16
)

type leaf struct {
	n       int
	keys    [leafSize]Key
	weights [leafSize]uint32
}

// Len returns the number of items.
func (x *Index) Len() int { return x.n }

// Put adds an item, or changes its weight.
func (x *Index) Put(k Key, weight uint32) {
	if len(x.leaves) == 0 {
		x.leaves = append(x.leaves, &leaf{})
	}
	i := x.leaf(k)
	l := x.leaves[i]
	j := l.find(k)
	if j < l.n && l.keys[j] == k {
		l.weights[j] = weight
		return
	}
	if l.n == leafSize {
		x.relieve(i)
		l = x.leaves[x.leaf(k)]
		j = l.find(k)
	}
	copy(l.keys[j+1:l.n+1], l.keys[j:l.n])
	copy(l.weights[j+1:l.n+1], l.weights[j:l.n])
	l.keys[j], l.weights[j] = k, weight
	l.n++
	x.n++
}

// Follow applies a change of the database, and reports whether it added an item. A new
// item has weight 1 until it is built and weighed.
func (x *Index) Follow(c Change) (added bool) {
	switch _, ok := x.Get(c.Key); {
	case c.Key == 0:
	case c.Removed:
		x.Delete(c.Key)
	case !ok:
		x.Put(c.Key, 1)
		return true
	}
	return false
}

// Get returns the weight of an item; ok is false if there is no such item.
func (x *Index) Get(k Key) (weight uint32, ok bool) {
	if len(x.leaves) == 0 {
		return 0, false
	}
	l := x.leaves[x.leaf(k)]
	j := l.find(k)
	if j == l.n || l.keys[j] != k {
		return 0, false
	}
	return l.weights[j], true
}

// Delete removes an item if it is there.
func (x *Index) Delete(k Key) {
	if len(x.leaves) == 0 {
		return
	}
	i := x.leaf(k)
	l := x.leaves[i]
	j := l.find(k)
	if j == l.n || l.keys[j] != k {
		return
	}
	copy(l.keys[j:], l.keys[j+1:l.n])
	copy(l.weights[j:], l.weights[j+1:l.n])
	l.n--
	x.n--
	x.shrink(i)
}

// Ascend implements Items.
func (x *Index) Ascend(lo, hi Key, visit func(k Key, weight uint32) bool) {
	if len(x.leaves) == 0 {
		return
	}
	i := x.leaf(lo)
	for j := x.leaves[i].find(lo); i < len(x.leaves); i, j = i+1, 0 {
		l := x.leaves[i]
		for ; j < l.n; j++ {
			if l.keys[j] > hi || !visit(l.keys[j], l.weights[j]) {
				return
			}
		}
	}
}

// leaf returns the index of the leaf that has k or would have it.
func (x *Index) leaf(k Key) int {
	i := sort.Search(len(x.leaves), func(i int) bool { return x.leaves[i].keys[0] > k })
	return max(0, i-1)
}

// relieve makes room in leaf i, which is full.
func (x *Index) relieve(i int) {
	if i > 0 {
		if left := x.leaves[i-1]; left.n < leafSize-slack {
			left.take(x.leaves[i], (leafSize-left.n+1)/2)
			return
		}
	}
	if i+1 < len(x.leaves) {
		if right := x.leaves[i+1]; right.n < leafSize-slack {
			x.leaves[i].give(right, (leafSize-right.n+1)/2)
			return
		}
	}
	right := &leaf{}
	x.leaves[i].give(right, leafSize/2)
	x.leaves = slices.Insert(x.leaves, i+1, right)
}

// shrink removes leaf i if it is empty, and joins it with its right neighbour if both
// are small.
func (x *Index) shrink(i int) {
	l := x.leaves[i]
	if l.n == 0 {
		x.leaves = slices.Delete(x.leaves, i, i+1)
		return
	}
	if i+1 == len(x.leaves) || l.n+x.leaves[i+1].n > leafSize/2 {
		return
	}
	l.take(x.leaves[i+1], x.leaves[i+1].n)
	x.leaves = slices.Delete(x.leaves, i+1, i+2)
}

// find returns the index of the first key that is not below k.
func (l *leaf) find(k Key) int {
	return sort.Search(l.n, func(i int) bool { return l.keys[i] >= k })
}

// take moves the first n items of the right leaf to the end of this one.
func (l *leaf) take(right *leaf, n int) {
	copy(l.keys[l.n:], right.keys[:n])
	copy(l.weights[l.n:], right.weights[:n])
	copy(right.keys[:], right.keys[n:right.n])
	copy(right.weights[:], right.weights[n:right.n])
	l.n += n
	right.n -= n
}

// give moves the last n items of this leaf to the front of the right one.
func (l *leaf) give(right *leaf, n int) {
	copy(right.keys[n:], right.keys[:right.n])
	copy(right.weights[n:], right.weights[:right.n])
	l.n -= n
	copy(right.keys[:n], l.keys[l.n:])
	copy(right.weights[:n], l.weights[l.n:])
	right.n += n
}
