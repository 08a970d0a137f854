package sim

import (
	"slices"
	"sort"

	"adshard/balance"
)

// database is the source of truth. Versions are the clocks of changes.
type database struct {
	process
	clock   uint64
	items   map[balance.Key]stored
	parents map[balance.Parent]uint64
	// sorted has the keys of all items that ever existed.
	sorted    []balance.Key
	history   map[balance.Key][]version
	log       []balance.Change
	compacted uint64

	epoch uint64 // of the newest balancer
	state []byte // durable control state; nil if there is none
}

type stored struct {
	version uint64
	weight  uint32
}

// version is an entry in an item's history.
type version struct {
	clock   uint64
	removed bool
}

func newDatabase() *database {
	return &database{
		process: process{name: "db", up: true, slow: 1},
		items:   map[balance.Key]stored{}, parents: map[balance.Parent]uint64{}, history: map[balance.Key][]version{},
	}
}

func parentOf(k balance.Key) balance.Parent { return balance.Parent{Kind: 1, ID: uint64(k) >> 32} }

// load adds many items at once, before anything runs.
func (d *database) load(items []Item) {
	for _, i := range items {
		d.clock++
		d.items[i.Key] = stored{d.clock, i.Weight}
		d.sorted = append(d.sorted, i.Key)
	}
	slices.Sort(d.sorted)
	d.compacted = d.clock
}

// write changes, creates or removes an item.
func (d *database) write(k balance.Key, weight uint32, removed bool) {
	if _, there := d.items[k]; removed && !there {
		return
	}
	if p := parentOf(k); d.parents[p] == 0 {
		d.touch(p)
	}
	if i, found := slices.BinarySearch(d.sorted, k); !found {
		d.sorted = slices.Insert(d.sorted, i, k)
	}
	d.clock++
	if removed {
		delete(d.items, k)
	} else {
		d.items[k] = stored{d.clock, weight}
	}
	d.history[k] = append(d.history[k], version{d.clock, removed})
	d.log = append(d.log, balance.Change{Clock: d.clock, Key: k, Removed: removed})
}

// touch changes a parent.
func (d *database) touch(p balance.Parent) {
	d.clock++
	d.parents[p] = d.clock
	lo := balance.Key(p.ID << 32)
	d.log = append(d.log, balance.Change{
		Clock: d.clock, Parent: p, Items: balance.Interval{Lo: lo, Hi: lo | 0xffffffff},
	})
}

// changes returns up to limit changes with clocks above a clock, or false if some of
// them are gone.
func (d *database) changes(after uint64, limit int) ([]balance.Change, bool) {
	if after < d.compacted {
		return nil, false
	}
	i := sort.Search(len(d.log), func(i int) bool { return d.log[i].Clock > after })
	return slices.Clone(d.log[i:min(len(d.log), i+limit)]), true
}

// compact forgets the changes up to a clock.
func (d *database) compact(clock uint64) {
	d.compacted = max(d.compacted, min(clock, d.clock))
	i := sort.Search(len(d.log), func(i int) bool { return d.log[i].Clock > d.compacted })
	d.log = d.log[i:]
}

// index returns all items, as a balancer or distributor reads them when it starts.
func (d *database) index() *balance.Index {
	x := &balance.Index{}
	for _, k := range d.sorted {
		if i, there := d.items[k]; there {
			x.Put(k, i.weight)
		}
	}
	return x
}

// within returns the keys from lo to hi that were ever used.
func (d *database) within(lo, hi balance.Key) []balance.Key {
	i, _ := slices.BinarySearch(d.sorted, lo)
	j, found := slices.BinarySearch(d.sorted, hi)
	if found {
		j++
	}
	return d.sorted[i:j]
}

// promised returns the oldest version of an item that a slave may show if it has
// applied all changes up to clock. absent reports whether it may lack the item.
func (d *database) promised(k balance.Key, clock uint64) (oldest uint64, absent bool) {
	h := d.history[k]
	i := sort.Search(len(h), func(i int) bool { return h[i].clock > clock })
	if i == 0 {
		absent = true
	} else {
		oldest, absent = h[i-1].clock, h[i-1].removed
	}
	for _, v := range h[i:] {
		absent = absent || v.removed
	}
	return oldest, absent
}
