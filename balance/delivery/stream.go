package delivery

import (
	"adshard/balance"
)

// stream is the delivery to one slave: what the slave has, which buckets are ready for it, and
// which one is being built. The next bucket has, as far as there is room:
//
//   - the changes of items that the slave has, except those that are deferred;
//   - the table that the model assigns, even in the middle of a batch; keys that are no longer
//     assigned are residue;
//   - the next items of the batch that is being filled, which has all keys that were assigned
//     and missing when it began; later ones wait for the next batch, since there is only one
//     offset;
//   - if there is no batch, an order to clear some residue, unless masters may still ask the
//     slave for it.
type stream[P any] struct {
	name  string
	known bool // it is in the model
	keep  bool // the slave must not delete anything yet
	acked balance.Position
	end   balance.Position // of the last bucket that is ready, where the next one begins
	ahead uint64           // all changes up to this clock were sent, except those that are deferred
	table balance.Table    // the slave's table at end
	want  balance.Table    // the table that the model assigns
	wants uint64           // number of times that want was looked up
	// fits says that table already follows want; whole, that it also lacks nothing of want.
	// Then a bucket need not walk both tables, which have thousands of rows while small slices
	// move.
	fits, whole bool
	reset       bool // the next bucket empties the slave
	// settled is set if nothing can be done at end until a change, a model or a bucket
	// arrives.
	settled bool

	queue []Bucket[P]
	bytes int
	most  int // greatest size of a bucket that the slave accepts, in bytes; 0 if not given
	later deferral
	job   *job
	fetch uint64           // number of the Fetch under way; 0 if there is none
	older []balance.Change // fetched changes: all after ahead up to olderTo
	// olderTo is the clock up to which older is complete.
	olderTo uint64
	// fetchTo is the clock up to which the Fetch under way is complete if it returns fewer
	// changes than its limit.
	fetchTo uint64
}

// job is a bucket that is being built.
type job struct {
	seq     uint64
	entries []Entry
	from    balance.Position
	next    next
}

// next is the effect of a bucket with all of its entries.
type next struct {
	to      balance.Position
	clock   uint64 // all changes up to it are in this or an earlier bucket, except those that are deferred
	table   balance.Table
	wants   uint64 // the stream's wants, for which table was made
	whole   bool   // table lacks nothing of the stream's want
	cleared []balance.Interval
	// begun and offset are the table and the offset before any item of the
	// batch is delivered and any residue is cleared. They are the effect of a
	// bucket that has only some of the entries.
	begun  balance.Table
	offset uint64
}

// place looks up the table that the model assigns to the slave.
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

// restart drops everything that is ready or under way. The next bucket resets the slave.
func (s *stream[P]) restart() {
	s.reset, s.settled = true, false
	s.queue, s.bytes, s.end, s.ahead = nil, 0, s.acked, s.acked.Clock
	s.job, s.fetch, s.older, s.olderTo = nil, 0, nil, 0
	clear(s.later.items)
}

// push adds a bucket that is ready. After it, the slave's table is table, and the stream's
// ahead is ahead.
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

// fit notes whether the stream's table, which comes from a gathered bucket, still fits what
// the model assigns.
func (s *stream[P]) fit(n *next) {
	s.fits = n.wants == s.wants
	s.whole = s.fits && n.whole
}

// pop drops the first bucket, which the slave has applied.
func (s *stream[P]) pop() {
	s.acked = s.queue[0].To
	s.bytes -= s.queue[0].Bytes
	s.queue[0] = Bucket[P]{}
	s.queue = s.queue[1:]
}
