package delivery

import (
	"adshard/balance"
)

// stream is the delivery to one slave: what it has, what is ready for it, and what
// is being built. Its next bucket contains, as far as there is room:
//
//   - the changes of what was delivered to the slave, but those that are deferred;
//   - the table that the model assigns, at any time, also in the middle of a
//     batch; what is no longer assigned is residue;
//   - the next items of the batch that is being filled, which takes all keys
//     that were assigned and missing when it began; later ones wait for the
//     next batch, since a batch has one offset;
//   - when no batch is under way, the clearing of some residue, unless masters may
//     still ask the slave for it.
type stream[P any] struct {
	name  string
	known bool // it is in the model
	keep  bool // it deletes nothing yet
	acked balance.Position
	end   balance.Position // of the last bucket ready; where the next begins
	ahead uint64           // all changes up to it were sent, but those that are deferred
	table balance.Table    // the slave's at end
	want  balance.Table    // the model's
	wants uint64           // how often that was looked up
	// fits is set when table follows want already, whole when also nothing of want is missing:
	// no bucket need walk both, which have thousands of rows while small slices move.
	fits, whole bool
	reset       bool // the next bucket empties the slave
	// settled is set when nothing can be done at end until a change, a model or a
	// bucket arrives.
	settled bool

	queue []Bucket[P]
	bytes int
	most  int // bytes of a bucket that the slave accepts; 0: not given
	later deferral
	job   *job
	fetch uint64           // number of the fetch under way; 0: none
	older []balance.Change // fetched: all changes after ahead up to olderTo
	// olderTo is the clock up to which older is complete.
	olderTo uint64
	// fetchTo is the clock that a fetch under way covers if it returns less than
	// its limit.
	fetchTo uint64
}

// job is a bucket that is being built.
type job struct {
	seq     uint64
	entries []Entry
	from    balance.Position
	next    next
}

// next is the effect of a bucket that has all of its entries.
type next struct {
	to      balance.Position
	clock   uint64 // all changes up to it are in the bucket or before it, but those that are deferred
	table   balance.Table
	wants   uint64 // the stream's, from which table was made
	whole   bool   // it lacks nothing of that
	cleared []balance.Interval
	// begun and offset are the table and the offset before any item of the
	// batch is delivered and any residue cleared: the effect of a bucket with
	// only some of the entries.
	begun  balance.Table
	offset uint64
}

// place looks up what the model assigns to the slave.
func (d *Distributor[P]) place(s *stream[P]) {
	slave, ok := d.model.Slave(s.name)
	s.known, s.keep, s.want, s.settled = ok, slave.Left != 0, balance.Table{}, false
	s.wants++
	s.fits, s.whole = false, false
	if !ok {
		return
	}
	s.want = d.model.Header()
	if sh, ok := d.model.Shard(slave.Shard); ok {
		s.want.Slices, s.want.Shard = d.tables[sh.ID].Slices, sh.ShardOf(s.name)
	} else {
		s.want.Spare = true
	}
}

// restart drops what is ready or under way; the next bucket resets the slave.
func (s *stream[P]) restart() {
	s.reset, s.settled = true, false
	s.queue, s.bytes, s.end, s.ahead = nil, 0, s.acked, s.acked.Clock
	s.job, s.fetch, s.older, s.olderTo = nil, 0, nil, 0
	clear(s.later.items)
}

// push adds a bucket that is ready and leads to table; ahead becomes the stream's.
func (d *Distributor[P]) push(s *stream[P], b Bucket[P], table balance.Table, ahead uint64) {
	d.made++
	if b.Reset || !table.Equal(s.table) {
		b.Table = &table
		s.later.keep(table.Delivered(b.To.Offset))
	}
	s.ahead = ahead
	s.queue = append(s.queue, b)
	s.bytes += b.Bytes
	s.end, s.table, s.reset, s.settled = b.To, table, false, false
	s.fits, s.whole = false, false
}

// fit notes that the stream's table is one of a bucket's that was gathered.
func (s *stream[P]) fit(n *next) {
	s.fits = n.wants == s.wants
	s.whole = s.fits && n.whole
}

// pop drops the bucket that the slave has applied.
func (s *stream[P]) pop() {
	s.acked = s.queue[0].To
	s.bytes -= s.queue[0].Bytes
	s.queue[0] = Bucket[P]{}
	s.queue = s.queue[1:]
}
