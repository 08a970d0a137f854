package delivery

import (
	"adshard/balance"
)

// Bucket is node data for one slave (thesis 6.3.4): the half-open range
// From..To of log positions. P is what a flavour makes of items; the zero P
// holds nothing.
type Bucket[P any] struct {
	From, To balance.Position
	// Reset empties the slave before anything else; From is not checked then.
	Reset bool
	// Cleared lists keys, disjoint and ascending: every item with one of them that
	// is not in Payload is removed from the slave.
	Cleared []balance.Interval
	// Table, when set, replaces the slave's.
	Table   *balance.Table
	Payload P
	// Bytes is the size that the builder reported.
	Bytes int
}

// Entry is something to be put into a bucket in its current state: the item with
// Key (a deletion if it no longer exists), or, with Key 0, the parent.
type Entry struct {
	Key    balance.Key
	Parent balance.Parent
	clock  uint64 // of its first change in the bucket; 0: part of a filling
	weight uint32 // of the item, as far as known
}

// Changed reports whether the entry is in the bucket because of a change and not
// as part of a fill: the item's weight may then differ from the mapper's.
func (e Entry) Changed() bool { return e.clock > 0 }

// Build asks a flavour to build entries for a slave, in their order, from a
// snapshot taken at or after Clock, and to stop before MaxBytes is passed; at
// least one entry is taken. Parents of items come along.
type Build struct {
	Slave    string
	Seq      uint64
	Clock    uint64
	Entries  []Entry
	MaxBytes int
}

// Built answers a Build: the first Entries of its entries are in Payload, of
// some Bytes.
type Built[P any] struct {
	Slave   string
	Seq     uint64
	Entries int
	Payload P
	Bytes   int
}

// Fetch asks for changes older than the distributor remembers: up to Limit of
// those with a clock above After.
type Fetch struct {
	Slave string
	Seq   uint64
	After uint64
	Limit int
}

// Fetched answers a Fetch. Stale is set if changes after it are no longer in the log.
type Fetched struct {
	Slave   string
	Seq     uint64
	Changes []balance.Change
	Stale   bool
}

// Work is what a distributor wants done, in any order.
type Work struct {
	Builds  []Build
	Fetches []Fetch
}
