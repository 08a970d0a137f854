package mapper_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/balance/mapper"
	"adshard/fault"
)

// testSlave is a slave: a disk, and what the slave knows about the balancer.
type testSlave struct {
	disk
	name    string
	life    int    // of its process
	dist    int    // its distributor
	epoch   uint64 // with which it registered; 0: it has not
	catchUp balance.Position
	resets  int
	dead    bool
	trouble string
	copy    *disk // a backup; nil: none
	// heard is when the balancer last heard from the slave. excused: the slave was
	// away or lost its data, and is not yet as the model wants it.
	heard   time.Duration
	excused bool
}

// disk is what survives a slave's process.
type disk struct {
	pos     balance.Position
	table   balance.Table
	items   map[balance.Key]uint64
	parents map[balance.Parent]uint64
	damaged map[balance.Key]bool // items whose postings are wrong
}

// master is a simulated master that sends queries to slaves in a view.
type master struct {
	name string
	view uint64
	// revision is the revision of the master's map.
	revision uint64
	heard    time.Duration // when the balancer last heard from it
	cut      bool          // none of its messages arrive
	// lapsed: the master's lease has expired, and it has not received the newest
	// view since.
	lapsed bool
}

// slave returns the slave with a name, or a new one with an empty disk if there
// is none.
func (w *world) slave(name string) *testSlave {
	n, ok := w.slaves[name]
	if !ok {
		n = &testSlave{name: name}
		n.wipe()
		w.slaves[name] = n
	}
	return n
}

func (n *testSlave) wipe() {
	n.disk = disk{items: map[balance.Key]uint64{}, parents: map[balance.Parent]uint64{}, damaged: map[balance.Key]bool{}}
	n.epoch, n.excused = 0, true
}

func (d disk) clone() *disk {
	d.items, d.parents, d.damaged = maps.Clone(d.items), maps.Clone(d.parents), maps.Clone(d.damaged)
	return &d
}

// restore replaces the slave's data by an old copy.
func (n *testSlave) restore() {
	if n.copy != nil {
		n.disk, n.epoch, n.excused = *n.copy.clone(), 0, true
	}
}

func (n *testSlave) incarnation() string { return fmt.Sprint(n.name, n.life) }

// of returns the distributor of a slave.
func (w *world) of(n *testSlave) *testDistributor { return w.dists[n.dist%len(w.dists)] }

// register registers a slave with the balancer and with its distributor.
func (w *world) register(n *testSlave) error {
	j := balance.Joining{Name: n.name, Site: balance.Site{Address: n.name + ":1"}, Position: n.pos, Table: n.table}
	welcome, err := w.of(n).distributor.Register(j, w.clock)
	if err != nil {
		return err
	}
	n.epoch, n.catchUp, n.heard = w.epoch, welcome.CatchUp, w.now
	if err := w.mapper.Join(w.now, j); err != nil {
		return err
	}
	return w.carry()
}

// pull makes a slave ask once; lost: the answer does not arrive. It reports
// whether a bucket was applied.
func (w *world) pull(n *testSlave, lost bool) (bool, error) {
	if n.dead || !w.up || n.trouble != "" {
		return false, nil
	}
	if n.epoch == 0 {
		return false, w.register(n)
	}
	d := w.of(n).distributor
	d.Defer(n.name)
	b, err := d.Pull(n.name, n.epoch, n.pos)
	if fault.Is(err, fault.Stale) || fault.Is(err, fault.NotFound) {
		n.epoch = 0
		return false, nil
	}
	if err != nil || b == nil || lost {
		return false, err
	}
	return true, w.apply(n, *b)
}

// discard makes a slave stop serving a slice that differs: it empties the slice's
// interval and announces itself again.
func (w *world) discard(d balance.Discard) error {
	n := w.slave(d.Slave)
	i := slices.IndexFunc(n.table.Slices, func(h balance.Held) bool {
		return h.State == balance.Full && h.ID == d.Slice && h.Generation == d.Generation
	})
	if n.dead || i < 0 {
		return nil
	}
	n.table.Slices = slices.Delete(slices.Clone(n.table.Slices), i, i+1)
	if !slices.ContainsFunc(n.table.Slices, func(h balance.Held) bool { return h.State == balance.Filling }) {
		n.pos.Offset = 0
	}
	for k := range n.items {
		if d.Lo <= k && k <= d.Hi {
			delete(n.items, k)
			delete(n.damaged, k)
		}
	}
	n.epoch, n.excused = 0, true
	return w.check(n)
}

// report tells the balancer what a slave holds.
func (w *world) report(n *testSlave) error {
	if n.dead || !w.up || n.epoch != w.epoch {
		return nil
	}
	n.heard = w.now
	table := n.table
	err := w.mapper.Report(w.now, mapper.SlaveReport{
		Name: n.name, Incarnation: n.incarnation(), Position: n.pos, Table: &table, Trouble: n.trouble, Bytes: uint64(len(n.items)),
	})
	if fault.Is(err, fault.Stale) {
		n.epoch = 0
		return nil
	}
	if err != nil {
		return err
	}
	return w.carry()
}

// apply applies a bucket as a store does.
func (w *world) apply(n *testSlave, b delivery.Bucket[content]) error {
	if b.Reset {
		pos, epoch := n.pos, n.epoch
		n.resets++
		n.wipe()
		n.epoch, n.pos = epoch, pos
	} else if b.From != n.pos {
		return fmt.Errorf("%s stands at %s and was given %s to %s", n.name, n.pos, b.From, b.To)
	}
	for k := range n.items {
		if _, stays := b.Payload.items[k]; !stays && covers(b.Cleared, k) {
			delete(n.items, k)
			delete(n.damaged, k)
		}
	}
	for k, v := range b.Payload.items {
		if v < n.items[k] {
			return fmt.Errorf("%s: item %x goes back from %d to %d", n.name, k, n.items[k], v)
		}
		n.items[k] = v
		delete(n.damaged, k)
	}
	for p, v := range b.Payload.parents {
		if v < n.parents[p] {
			return fmt.Errorf("%s: parent %v goes back", n.name, p)
		}
		n.parents[p] = v
	}
	for _, k := range b.Payload.deleted {
		delete(n.items, k)
		delete(n.damaged, k)
	}
	if b.Table != nil {
		n.table = *b.Table
	}
	if !b.Reset && b.To.Compare(n.pos) <= 0 {
		return fmt.Errorf("%s goes from %s to %s", n.name, n.pos, b.To)
	}
	n.pos = b.To
	return w.check(n)
}

func covers(list []balance.Interval, k balance.Key) bool {
	for _, v := range list {
		if k >= v.Lo && k <= v.Hi {
			return true
		}
	}
	return false
}

// certify answers a question of the mapper from the real data.
func (w *world) certify(i int) error {
	c := w.asked[i]
	w.asked = append(w.asked[:i:i], w.asked[i+1:]...)
	if !w.up {
		return nil
	}
	w.mapper.Certified(w.now, w.answer(c))
	return w.carry()
}

func (w *world) answer(c balance.Certify) balance.Certified {
	out := balance.Certified{Seq: c.Seq}
	ask := func(name string) *balance.Certificate {
		n := w.slave(name)
		if n.dead || n.pos.Clock < c.Clock {
			out.Failed = fmt.Errorf("%s does not answer or is not at clock %d yet", name, c.Clock)
			return nil
		}
		return certificate(c, n.pos.Clock, n.items, n.parents, n.damaged, nil)
	}
	if c.Source != "" {
		out.Source = ask(c.Source)
	}
	out.Target = ask(c.Target)
	named := slices.Clone(c.Parents)
	for _, asked := range []*balance.Certificate{out.Source, out.Target} {
		if asked != nil {
			for _, p := range asked.Parents {
				named = append(named, p.Parent)
			}
		}
	}
	out.Truth = *certificate(c, w.clock, w.items, w.parents, nil, named)
	return out
}

// certificate sums up some items. named lists the wanted parents; nil: those of
// the items. The parents that the question asks for are added.
func certificate(c balance.Certify, clock uint64, items map[balance.Key]uint64, parents map[balance.Parent]uint64, damaged map[balance.Key]bool, named []balance.Parent) *balance.Certificate {
	out := &balance.Certificate{Clock: clock}
	wanted := map[balance.Parent]bool{}
	for _, p := range slices.Concat(named, c.Parents) {
		wanted[p] = true
	}
	for k, v := range items {
		bin := balance.Bin(k)
		if k < c.Lo || k > c.Hi || c.Wanted>>bin&1 == 0 {
			continue
		}
		if damaged[k] {
			v = ^v
		}
		sum := &out.Bins[bin]
		sum.Count++
		sum.Hi += hash(uint64(k), v)
		sum.Lo += hash(v, uint64(k))
		if named == nil {
			wanted[parentOf(k)] = true
		}
		out.Items++
		out.Bytes += 100
	}
	for p := range wanted {
		if v := parents[p]; v != 0 {
			out.Parents = append(out.Parents, balance.ParentSum{Parent: p, Hi: hash(v), Lo: v})
		} else {
			out.Parents = append(out.Parents, balance.ParentSum{Parent: p})
		}
	}
	return out
}

func hash(list ...uint64) uint64 {
	h := xxhash.New()
	for _, v := range list {
		_ = binary.Write(h, binary.LittleEndian, v)
	}
	return h.Sum64()
}

// master returns the master of a name and makes it if there is none.
func (w *world) master(name string) *master {
	m, ok := w.masters[name]
	if !ok {
		m = &master{name: name}
		w.masters[name] = m
	}
	return m
}

// poll makes a master ask for a newer map; lost: the answer does not arrive.
func (w *world) poll(m *master, lost bool) {
	if !w.up || m.cut {
		return
	}
	m.lapsed = m.lapsed || w.now-m.heard >= w.plan.MasterLease
	m.heard = w.now
	w.mapper.Master(w.now, m.name, m.view, m.revision)
	if p := w.mapper.Published(); p != nil && !lost {
		m.view, m.revision, m.lapsed = max(m.view, p.View()), p.Revision(), false
	}
	w.mapper.Master(w.now, m.name, m.view, m.revision)
}
