package balance

import "sort"

// Items is a read-only view of the known items, by rising key.
type Items interface {
	Len() int
	// Ascend visits the items with keys lo to hi, both inclusive, with their
	// weights, until visit returns false.
	Ascend(lo, hi Key, visit func(k Key, weight uint32) bool)
}

// Index is the ordered set of known items with their weights: the in-memory
// map of thesis 6.3.2, compact. Leaves of sorted keys take 12 bytes an item,
// at most twice that when every leaf is half full.
type Index struct {
	leaves []*leaf // by rising first key; none is empty
	n      int
}

// leafSize is the number of items in a full leaf.
const leafSize = 512

type leaf struct {
	n       int
	keys    [leafSize]Key
	weights [leafSize]uint32
}

// Len returns the number of items.
func (x *Index) Len() int { return x.n }

// Put adds an item or changes its weight.
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
		right := l.split()
		x.leaves = append(x.leaves, nil)
		copy(x.leaves[i+2:], x.leaves[i+1:])
		x.leaves[i+1] = right
		if k >= right.keys[0] {
			l = right
		}
		j = l.find(k)
	}
	copy(l.keys[j+1:l.n+1], l.keys[j:l.n])
	copy(l.weights[j+1:l.n+1], l.weights[j:l.n])
	l.keys[j], l.weights[j] = k, weight
	l.n++
	x.n++
}

// Get returns an item's weight.
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

// Delete removes an item, if it is there.
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

// leaf returns the index of the leaf in which k lies or belongs.
func (x *Index) leaf(k Key) int {
	i := sort.Search(len(x.leaves), func(i int) bool { return x.leaves[i].keys[0] > k })
	return max(0, i-1)
}

// shrink drops an empty leaf and joins a small one with its right neighbour.
func (x *Index) shrink(i int) {
	l := x.leaves[i]
	if l.n == 0 {
		x.leaves = append(x.leaves[:i], x.leaves[i+1:]...)
		return
	}
	if i+1 == len(x.leaves) || l.n+x.leaves[i+1].n > leafSize/2 {
		return
	}
	right := x.leaves[i+1]
	copy(l.keys[l.n:], right.keys[:right.n])
	copy(l.weights[l.n:], right.weights[:right.n])
	l.n += right.n
	x.leaves = append(x.leaves[:i+1], x.leaves[i+2:]...)
}

// find returns the index of the first key that is not below k.
func (l *leaf) find(k Key) int {
	return sort.Search(l.n, func(i int) bool { return l.keys[i] >= k })
}

// split moves the upper half into a new leaf.
func (l *leaf) split() *leaf {
	right := &leaf{n: l.n - l.n/2}
	copy(right.keys[:], l.keys[l.n/2:l.n])
	copy(right.weights[:], l.weights[l.n/2:l.n])
	l.n /= 2
	return right
}
