package delivery

import (
	"adshard/balance"
)

// Bucket is node data for one slave (thesis 6.3.4): the half-open range From..To of log
// positions. P is the payload that a flavour builds from items; the zero P has no
// items.
type Bucket[P any] struct {
	From, To balance.Position
	// Reset empties the slave first. Then From is not checked.
	Reset bool
	// Cleared is a list of disjoint ascending intervals: all items with keys in them
	// that are not in Payload are removed from the slave.
	Cleared []balance.Interval
	// Table, if it is set, replaces the slave's table.
	Table   *balance.Table
	Payload P
	// Bytes is the size of the payload, as the builder reported it.
	Bytes int
}

// Entry is an item or parent that is put into a bucket in its current state: the item
// with Key (a deletion if it no longer exists), or the parent if Key is 0.
type Entry struct {
	Key    balance.Key
	Parent balance.Parent
	clock  uint64 // of its first change in the bucket; 0 if it is part of a fill
	weight uint32 // of the item, as far as known
}

// Changed reports whether the entry is in the bucket because of a change, and not as
// part of a fill. The weight of such an item may differ from the mapper's.
func (e Entry) Changed() bool { return e.clock > 0 }

// Build asks a flavour to build entries for a slave, in their order, from a snapshot
// taken at or after Clock. The flavour stops before MaxBytes is exceeded, but builds at
// least one entry. It also adds the parents of items.
type Build struct {
	Slave    string
	Seq      uint64
	Clock    uint64
	Entries  []Entry
	MaxBytes int
}

// Built is the answer to a Build: Payload has the first Entries of its entries, and is
// Bytes long.
type Built[P any] struct {
	Slave   string
	Seq     uint64
	Entries int
	Payload P
	Bytes   int
}

// Fetch asks for changes that are older than those the distributor remembers: up to
// Limit changes with clocks above After.
type Fetch struct {
	Slave string
	Seq   uint64
	After uint64
	Limit int
}

// Fetched is the answer to a Fetch. Stale is set if some of the changes above After are
// no longer in the log.
type Fetched struct {
	Slave   string
	Seq     uint64
	Changes []balance.Change
	Stale   bool
}

// Work is the work that a distributor wants done, in any order.
type Work struct {
	Builds  []Build
	Fetches []Fetch
}
