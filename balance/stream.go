package balance

import "slices"

// stream is the way to one node: what it has, what is ready for it, and what
// is being built.
type stream[P any] struct {
	name  string
	node  NodeID // 0: not in the model yet
	acked Position
	end   Position // of the last bucket ready; where the next begins
	table Table    // the node's at end
	want  Table    // the model's, all served

	foreign bool // what it holds is of no use, whatever the model says
	reset   bool // the next bucket empties the node

	queue []Bucket[P]
	bytes int
	most  int // bytes of a bucket that the node wants; 0: it did not say
	job   *job
	fetch uint64   // number of the fetch under way; 0: none
	older []Change // fetched: all changes after end.Clock up to olderTo
	// olderTo is the clock up to which older knows all changes.
	olderTo uint64
	// fetchTo is the clock that a fetch under way surely reaches when it comes
	// back with less than its limit.
	fetchTo uint64
}

// job is a bucket that is being built.
type job struct {
	seq     uint64
	entries []Entry
	from    Position
	next    next
}

// next is what a bucket brings when all of its entries are in it.
type next struct {
	to    Position
	table *Table
	clock uint64 // reached when all changes of the bucket are in it
}

// inconsistent tells whether the node's position and table contradict each
// other: whatever fills a node must be all that it holds.
func (s *stream[P]) inconsistent() bool {
	switch {
	case s.end == Position{}:
		return len(s.table.Slices) > 0
	case s.end.Offset != 0:
		return !s.table.Equal(s.table.onlyHeld())
	}
	return !s.table.served()
}

// place compares the node with the model. A node that holds other keys than it
// should is filled from nothing.
func (d *Distributor[P]) place(s *stream[P]) {
	n, known := d.model.Named(s.name)
	if !known {
		s.node = 0
		return
	}
	s.node, s.want = n.ID, d.model.Table(n.ID)
	if s.end == (Position{}) && !s.foreign {
		return
	}
	if s.foreign || !slices.Equal(s.table.Coverage(), d.coverage[n.ID]) {
		s.restart()
	}
}

// restart drops what is ready or under way; the next bucket resets the node.
func (s *stream[P]) restart() {
	s.foreign, s.reset = false, true
	s.queue, s.bytes, s.end = nil, 0, s.acked
	s.drop()
}

// drop forgets work that is under way.
func (s *stream[P]) drop() {
	s.job, s.fetch, s.older, s.olderTo = nil, 0, nil, 0
}

// push adds a bucket that is ready.
func (d *Distributor[P]) push(s *stream[P], b Bucket[P]) {
	d.made++
	s.queue = append(s.queue, b)
	s.bytes += b.Bytes
	s.end = b.To
	if b.Table != nil {
		s.table = *b.Table
	}
	if b.Reset {
		s.reset = false
	}
}

// pop drops the bucket that the node has applied.
func (s *stream[P]) pop() {
	s.acked = s.queue[0].To
	s.bytes -= s.queue[0].Bytes
	s.queue[0] = Bucket[P]{}
	s.queue = s.queue[1:]
}
