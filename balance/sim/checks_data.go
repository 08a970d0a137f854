package sim

import (
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/delivery"
)

// quantum checks a quantum that a mapper sends: numbers must be consecutive, and clocks and
// views must not fall.
func (c *checks) quantum(b *balancer, q balance.Quantum) {
	last, before := c.quanta[b]
	if before && last.Epoch == q.Epoch {
		if q.Number != last.Number+1 || q.Clock < last.Clock || q.View < last.View {
			c.w.fail("%s sends quantum %d of clock %d and view %d after %d of clock %d and view %d",
				b, q.Number, q.Clock, q.View, last.Number, last.Clock, last.View)
		}
	}
	if q.Epoch != b.epoch {
		c.w.fail("%s sends a quantum of epoch %d", b, q.Epoch)
	}
	c.quanta[b] = q
	c.dirty = true
}

// taken checks a quantum that a distributor took.
func (c *checks) taken(d *distributor, q balance.Quantum) {
	last := c.order[d]
	if q.Epoch < last.Epoch || q.Epoch == last.Epoch && q.Clock < last.Clock {
		c.w.fail("%s takes quantum %d of epoch %d, clock %d after %d of epoch %d, clock %d",
			d.name, q.Number, q.Epoch, q.Clock, last.Number, last.Epoch, last.Clock)
	}
	c.order[d] = q
}

// offered checks a bucket that a distributor offers to a slave.
func (c *checks) offered(slave string, at balance.Position, b *delivery.Bucket[payload]) {
	if b.From != at {
		c.w.fail("%s stands at %s and is offered %s to %s", slave, at, b.From, b.To)
	}
}

// bounded checks that the buckets that are ready for a slave stay within their bound.
func (c *checks) bounded(d *distributor) {
	cfg := c.w.cfg.Distributor
	for _, s := range c.w.slaves {
		if n := d.distributor.QueuedBytes(s.name); n > cfg.NodeBytes+2*cfg.BucketBytes {
			c.w.fail("%s holds %d bytes ready for %s", d.name, n, s.name)
		}
	}
}

// bucket checks a bucket that is about to be applied.
func (c *checks) bucket(s *slave, b delivery.Bucket[payload]) {
	at := s.disk.position
	if b.Reset {
		if at.Clock >= s.w.db.compacted && len(s.disk.table.Slices) > 0 {
			c.w.fail("%s at %s is emptied, though no change after %d is forgotten", s.name, at, s.w.db.compacted)
		}
		s.health.whole = false
		return
	}
	if b.To.Compare(at) <= 0 || b.To.Clock < at.Clock {
		c.w.fail("%s goes from %s to %s", s.name, at, b.To)
	}
	delivered := map[balance.Key]bool{}
	for _, h := range s.disk.table.Slices {
		for _, r := range b.Payload.items {
			if h.State == balance.Full && r.key >= h.Lo && r.key <= h.Hi {
				delivered[r.key] = true
			}
		}
	}
	for _, r := range b.Payload.items {
		if old := s.disk.items[r.key]; delivered[r.key] && r.version < old.version {
			c.w.fail("%s: item %x goes back from %d to %d", s.name, uint64(r.key), old.version, r.version)
		}
	}
}

// applied checks a slave against the history: it must have everything that its table and
// position promise, and nothing else.
func (c *checks) applied(s *slave, before balance.Table) {
	d := s.disk
	next := balance.Key(0)
	for i, h := range d.table.Slices {
		if i > 0 && h.Lo < next || h.Lo > h.Hi {
			c.w.fail("%s: its slices overlap at %x", s.name, uint64(h.Lo))
		}
		if h.From != 0 && h.State != balance.Full {
			c.w.fail("%s serves slice %d, which is not all there", s.name, h.ID)
		}
		if i == 0 || h.Lo > next {
			c.nothing(s, next, h.Lo)
		}
		next = h.Hi + 1
		switch {
		case h.State == balance.Full:
			c.content(s, h.Lo, h.Hi)
		case h.State == balance.Filling && uint64(h.Lo) < d.position.Offset:
			c.content(s, h.Lo, min(h.Hi, balance.Key(d.position.Offset-1)))
		}
	}
	if len(d.table.Slices) == 0 || next != 0 {
		c.nothing(s, next, balance.MaxKey)
	}
	c.dirty = c.dirty || !before.Equal(d.table)
	if s.shard(before) != s.shard(d.table) {
		s.health.whole = false
	}
}

// nothing checks that there is no item from lo to before hi.
func (c *checks) nothing(s *slave, lo, hi balance.Key) {
	for _, k := range s.disk.held(lo, hi) {
		if k < hi || hi == balance.MaxKey {
			c.w.fail("%s holds %x, which lies in none of its slices", s.name, uint64(k))
		}
	}
}

// content checks that the items from lo to hi are as the position promises.
func (c *checks) content(s *slave, lo, hi balance.Key) {
	db, d := c.w.db, s.disk
	for _, k := range db.within(lo, hi) {
		oldest, absent := db.promised(k, d.position.Clock)
		r, held := d.items[k]
		switch p := parentOf(k); {
		case held && r.version < oldest, !held && !absent:
			c.w.fail("%s at %s holds %x of %d (held: %v), promised is %d at least (may be absent: %v)",
				s.name, d.position, uint64(k), r.version, held, oldest, absent)
		case held && (d.parents[p] == 0 || d.parents[p] < db.parents[p] && db.parents[p] <= d.position.Clock):
			c.w.fail("%s at %s holds the parent of %x as of %d, promised is %d", s.name, d.position, uint64(k), d.parents[p], db.parents[p])
		}
	}
}

// discarded must be called when a slave has discarded a slice that differs.
func (c *checks) discarded(s *slave) {
	s.health.whole, c.dirty = false, true
	c.applied(s, s.disk.table)
}

// certified records that a slave gave a certificate of a slice.
func (c *checks) certified(s *slave, q balance.Certify) {
	key := certain{s.name, q.Slice, q.Generation}
	c.certain[key] = append(c.certain[key], certified{balance.Interval{Lo: q.Lo, Hi: q.Hi}, q.Wanted, c.w.now})
}

// saved checks a model that has become durable.
func (c *checks) saved(m *balance.Model) {
	serving, last := "", balance.ShardID(0)
	for _, v := range m.Slices() {
		if v.Shard != last {
			sh, _ := m.Shard(v.Shard)
			serving += fmt.Sprintf(" %s from %x", sh.Name, uint64(v.Lo))
		}
		last = v.Shard
		if v.Move.Phase == balance.Switched {
			c.atSwitch(m, v)
		}
	}
	if old, known := c.maps[m.View()]; known && old != serving {
		c.w.fail("view %d is two maps: %s; and %s", m.View(), old, serving)
	}
	c.maps[m.View()], c.newest = serving, m
}

// atSwitch checks that each slave that masters are to ask was certified in all bins, and that
// no data damaged before the certificate have come into service.
func (c *checks) atSwitch(m *balance.Model, v balance.Slice) {
	set := m.Set(v.Shard)
	if len(set) == 0 {
		sh, _ := m.Shard(v.Shard)
		c.w.fail("slice %d goes to %s, where no slave is asked", v.ID, sh.Name)
	}
	key := certain{fmt.Sprint(v.Shard), v.ID, v.Generation - 1}
	if c.switched[key] {
		return
	}
	c.switched[key] = true
	for _, s := range set {
		c.servesCertified(c.w.slave(s.Name), v)
	}
}

// servesCertified checks that the data that a slave begins to serve are certified.
func (c *checks) servesCertified(s *slave, v balance.Slice) {
	if s == nil {
		return
	}
	all := c.certain[certain{s.name, v.ID, v.Generation - 1}]
	for bin := range balance.Bins {
		var covered []balance.Interval
		for _, d := range all {
			if d.bins>>bin&1 != 0 {
				covered = append(covered, d.Interval)
			}
		}
		if left := unseen(balance.Interval{Lo: v.Lo, Hi: v.Hi}, covered); len(left) > 0 {
			c.w.fail("slice %d goes to %s, whose bin %d was not certified from %x to %x", v.ID, s.name, bin, uint64(left[0].Lo), uint64(left[0].Hi))
			return
		}
	}
	for _, k := range s.disk.held(v.Lo, v.Hi) {
		if r := s.disk.items[k]; r.flipped > 0 && r.flipped <= certifiedAt(all, k) {
			c.w.fail("slice %d goes to %s with item %x damaged", v.ID, s.name, uint64(k))
		}
	}
}

// certifiedAt returns when an item was last certified, or 0 if it never was.
func certifiedAt(list []certified, k balance.Key) time.Duration {
	for i := len(list) - 1; i >= 0; i-- {
		if d := list[i]; d.Lo <= k && k <= d.Hi && d.bins>>balance.Bin(k)&1 != 0 {
			return d.at
		}
	}
	return 0
}

// frees checks the slaves that may delete their data from a model on: no master with a lease
// may still ask them for these data. A master whose lease has expired may ask, and is
// rejected.
func (c *checks) frees(next *balance.Model) {
	for _, s := range next.Slaves() {
		if s.Shard != 0 || s.Left != 0 {
			continue
		}
		was, known := balance.Slave{}, false
		if c.newest != nil {
			was, known = c.newest.Slave(s.Name)
		}
		if known && was.Shard == 0 && was.Left == 0 || !known && !c.w.holds(s.Name) {
			continue
		}
		for _, m := range c.w.masters {
			if shard := m.shardOf(s.Name); shard != "" && c.leased(m) {
				c.w.fail("%s may delete what %s asks it for as a replica of %s", s.Name, m.name, shard)
			}
		}
	}
}

// leaves checks the slaves that are to leave their sets or lose their shards although the
// balancer hears them: another slave that has not missed two reports must stay.
func (c *checks) leaves(b *balancer, next *balance.Model) {
	was := b.mapper.Model()
	if was == nil {
		return
	}
	silence := func(name string) time.Duration { return c.w.now - max(b.began, b.hears[name], b.jumped) }
	for _, sh := range next.Shards() {
		gone, answers := "", false
		for _, s := range was.Set(sh.ID) {
			switch v, _ := next.Slave(s.Name); {
			case v.In && v.Shard == sh.ID:
				answers = answers || silence(s.Name) <= c.w.cfg.Mapper.Report*5/2
			case silence(s.Name) < c.w.cfg.Mapper.DeadAfter:
				gone = s.Name
			}
		}
		if gone != "" && !answers {
			c.w.fail("%s leaves the set of %s, in which no other slave was heard from a moment ago", gone, sh.Name)
		}
	}
}

// holds reports whether a slave has data.
func (w *world) holds(name string) bool {
	i := slices.IndexFunc(w.slaves, func(s *slave) bool { return s.name == name })
	return i >= 0 && len(w.slaves[i].disk.table.Slices) > 0
}

// deletes checks a bucket that deletes items. While a slave that left a shard must not delete
// its data, the bucket must not delete anything for which a master with a lease may ask the
// slave.
func (c *checks) deletes(s *slave, b delivery.Bucket[payload]) {
	if len(b.Cleared) == 0 && len(b.Payload.deleted) == 0 || b.Reset || c.newest == nil {
		return
	}
	if left, ok := c.newest.Slave(s.name); !ok || left.Left == 0 {
		return
	}
	t := s.disk.table
	if b.Table != nil {
		t = *b.Table
	}
	for _, m := range c.w.masters {
		shard := m.shardOf(s.name)
		if shard != "" && shard != s.shard(t) && c.leased(m) {
			c.w.fail("%s deletes what %s may ask it for as a replica of %s", s.name, m.name, shard)
		}
	}
}

// leased reports whether the balancer of the newest epoch knows the map that a master uses.
func (c *checks) leased(m *master) bool {
	return m.up && m.heard.View == m.have.View && m.heard.Revision == m.have.Revision && m.heard.View > 0 && m.heardByNewest &&
		c.w.now-m.heardAt < c.w.cfg.Mapper.MasterLease && c.jumped < m.heardAt
}
