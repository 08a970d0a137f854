package sim

import (
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/delivery"
)

// payload is the content of a bucket: items and parents, in the state that the database
// had.
type payload struct {
	items   []record
	parents []parent
	deleted []balance.Key
}

// record is an item on a slave: the record itself, and the posting that searches read.
type record struct {
	key             balance.Key
	version, posted uint64
	weight          uint32
	// flipped is when a byte of the posting was changed, or 0 if the posting is sound.
	flipped time.Duration
}

type parent struct {
	parent  balance.Parent
	version uint64
}

// disk has the durable data of a slave. Each bucket is applied to it as a whole.
type disk struct {
	position balance.Position
	table    balance.Table
	items    map[balance.Key]record
	keys     balance.Index // keys of items, in ascending order
	parents  map[balance.Parent]uint64
}

func newDisk() *disk {
	return &disk{items: map[balance.Key]record{}, parents: map[balance.Parent]uint64{}}
}

// copy returns a copy of the disk, which may be put back much later.
func (d *disk) copy() *disk {
	c := &disk{
		position: d.position, table: d.table, items: maps.Clone(d.items), parents: maps.Clone(d.parents),
	}
	c.table.Slices = slices.Clone(d.table.Slices)
	for _, k := range d.held(0, balance.MaxKey) {
		c.keys.Put(k, d.items[k].weight)
	}
	return c
}

// held returns the keys from lo to hi of items on the disk.
func (d *disk) held(lo, hi balance.Key) (list []balance.Key) {
	d.keys.Ascend(lo, hi, func(k balance.Key, _ uint32) bool {
		list = append(list, k)
		return true
	})
	return list
}

func (d *disk) put(r record) {
	d.items[r.key] = r
	d.keys.Put(r.key, r.weight)
}

func (d *disk) remove(k balance.Key) {
	delete(d.items, k)
	d.keys.Delete(k)
}

// apply applies a bucket as one atomic batch.
func (d *disk) apply(b delivery.Bucket[payload]) {
	if b.Reset {
		*d = *newDisk()
	}
	for _, v := range b.Cleared {
		for _, k := range d.held(v.Lo, v.Hi) {
			d.remove(k)
		}
	}
	for _, r := range b.Payload.items {
		d.put(r)
	}
	for _, p := range b.Payload.parents {
		d.parents[p.parent] = p.version
	}
	for _, k := range b.Payload.deleted {
		d.remove(k)
	}
	if b.Table != nil {
		d.table = *b.Table
		d.table.Slices = slices.Clone(b.Table.Slices)
	}
	d.position = b.To
}

// served returns the entries of the table that are served in a view.
func (d *disk) served(view uint64) []balance.Held {
	list := make([]balance.Held, 0, len(d.table.Slices))
	for _, h := range d.table.Slices {
		if h.State == balance.Full && h.From != 0 && h.From <= view && (h.Until == 0 || view <= h.Until) {
			list = append(list, h)
		}
	}
	return list
}

// certificate adds up what searches read of the items from lo to hi, in the bins
// wanted, and of the parents of these items and the parents named.
func (d *disk) certificate(lo, hi balance.Key, wanted uint64, named []balance.Parent) *balance.Certificate {
	named = slices.Clone(named)
	c := &balance.Certificate{Clock: d.position.Clock}
	d.keys.Ascend(lo, hi, func(k balance.Key, w uint32) bool {
		r := d.items[k]
		if add(c, wanted, k, w, r.version, r.posted) {
			named = append(named, parentOf(k))
		}
		return true
	})
	name(c, named, d.parents)
	return c
}

// name adds the sums of parents to a certificate, each once.
func name(c *balance.Certificate, named []balance.Parent, parents map[balance.Parent]uint64) {
	seen := map[balance.Parent]bool{}
	for _, p := range named {
		if !seen[p] {
			seen[p] = true
			c.Parents = append(c.Parents, balance.ParentSum{Parent: p, Lo: parents[p]})
		}
	}
}

// certificate returns a certificate of the source of truth, with the parents named.
func (d *database) certificate(lo, hi balance.Key, wanted uint64, named []balance.Parent) balance.Certificate {
	c := balance.Certificate{Clock: d.clock}
	for _, k := range d.within(lo, hi) {
		if i, there := d.items[k]; there {
			add(&c, wanted, k, i.weight, i.version, i.version)
		}
	}
	name(&c, named, d.parents)
	return c
}

// add adds an item's hash to its bin, and reports whether that bin is wanted.
func add(c *balance.Certificate, wanted uint64, k balance.Key, weight uint32, content ...uint64) bool {
	bin := balance.Bin(k)
	if wanted&(1<<bin) == 0 {
		return false
	}
	c.Items++
	c.Bytes += uint64(weight)
	h := mix(uint64(k) + 1)
	for _, v := range content {
		h = mix(h ^ mix(v+1))
	}
	s := &c.Bins[bin]
	s.Count++
	low := s.Lo
	s.Lo += h
	s.Hi += mix(h + 1)
	if s.Lo < low {
		s.Hi++
	}
	return true
}

// discard deletes the items of a slice that differs, and removes the slice from the
// table.
func (d *disk) discard(o balance.Discard) bool {
	i := slices.IndexFunc(d.table.Slices, func(h balance.Held) bool {
		return h.State == balance.Full && h.ID == o.Slice && h.Generation == o.Generation
	})
	if i < 0 {
		return false
	}
	d.table.Slices = slices.Delete(slices.Clone(d.table.Slices), i, i+1)
	if !slices.ContainsFunc(d.table.Slices, func(h balance.Held) bool { return h.State == balance.Filling }) {
		d.position.Offset = 0
	}
	for _, k := range d.held(o.Lo, o.Hi) {
		d.remove(k)
	}
	return true
}
