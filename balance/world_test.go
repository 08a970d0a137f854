package balance_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/fault"
)

// content is what a bucket holds in these tests: versions of items and
// parents; an item's version is the clock of its last change.
type content struct {
	items   map[balance.Key]uint64
	parents map[balance.Parent]uint64
	deleted []balance.Key
}

// world is a source of truth, a balancer and nodes, driven step by step. Owners
// are the upper half of a key; each has one parent record.
type world struct {
	clock     uint64
	items     map[balance.Key]uint64
	parents   map[balance.Parent]uint64
	log       []balance.Change
	compacted uint64
	history   map[balance.Key][]uint64

	now    time.Duration
	wanted int
	config balance.DistributorConfig
	saved  []byte
	epoch  uint64
	save   *balance.SaveState // asked for, not durable yet
	up     bool
	index  *balance.Index
	mapper *balance.Mapper
	dist   *balance.Distributor[content]
	fed    uint64           // changes given to the balancer
	late   []balance.Change // given to the mapper, not to the distributor yet
	work   balance.Work

	nodes     map[string]*node
	itemBytes int
}

// node is a slave: a disk, and what it knows of the balancer.
type node struct {
	name    string
	pos     balance.Position
	table   balance.Table
	items   map[balance.Key]uint64
	parents map[balance.Parent]uint64
	epoch   uint64 // registered with; 0: not
	catchUp balance.Position
	resets  int
	dead    bool
}

func newWorld(wanted int) *world {
	w := &world{
		items: map[balance.Key]uint64{}, parents: map[balance.Parent]uint64{},
		history: map[balance.Key][]uint64{}, nodes: map[string]*node{}, wanted: wanted, itemBytes: 100,
		config: balance.DistributorConfig{BucketBytes: 1000, NodeBytes: 4000, Ahead: 3, Changes: 16, Entries: 8},
	}
	return w
}

func owner(k balance.Key) uint64            { return uint64(k) >> 32 }
func parentOf(k balance.Key) balance.Parent { return balance.Parent{Kind: 1, ID: owner(k)} }

// write changes, creates or removes an item.
func (w *world) write(k balance.Key, removed bool) {
	if _, there := w.items[k]; removed && !there {
		return
	}
	if _, ok := w.parents[parentOf(k)]; !ok {
		w.touch(owner(k))
	}
	w.clock++
	w.items[k] = w.clock
	if removed {
		delete(w.items, k)
	}
	w.history[k] = append(w.history[k], w.clock)
	w.log = append(w.log, balance.Change{Clock: w.clock, Key: k, Removed: removed})
}

// touch changes an owner's parent record.
func (w *world) touch(o uint64) {
	w.clock++
	p := balance.Parent{Kind: 1, ID: o}
	w.parents[p] = w.clock
	w.log = append(w.log, balance.Change{
		Clock: w.clock, Parent: p,
		Items: balance.Interval{Lo: balance.Key(o << 32), Hi: balance.Key(o<<32 | 0xffffffff)},
	})
}

// start starts a balancer; one that runs is killed.
func (w *world) start() error {
	w.epoch++
	w.save, w.work, w.up, w.late = nil, balance.Work{}, true, nil
	w.index = &balance.Index{}
	for k := range w.items {
		w.index.Put(k, 1)
	}
	m, err := balance.NewMapper(balance.MapperConfig{
		Epoch: w.epoch, Order: balance.ByOwner, Nodes: w.wanted, Strategy: strategy.Original{},
		Pace: balance.DefaultPace, Beat: balance.DefaultBeat,
	}, w.index, w.saved)
	if err != nil {
		return err
	}
	w.config.Epoch = w.epoch
	w.mapper, w.fed = m, w.clock
	w.dist = balance.NewDistributor[content](w.config, w.index, w.clock)
	m.Loaded(w.now, w.clock)
	return w.carry()
}

// carry takes the mapper's messages to where they go.
func (w *world) carry() error {
	out := w.mapper.Out()
	if out.Save != nil {
		w.save = out.Save
	}
	for _, q := range out.Quanta {
		if err := w.dist.Quantum(q); err != nil {
			return err
		}
	}
	return nil
}

// persist makes the state durable that the mapper asked for.
func (w *world) persist() error {
	if w.save == nil || !w.up {
		return nil
	}
	s := w.save
	w.save, w.saved = nil, s.Bytes
	w.mapper.Saved(w.now, s.Seq)
	return w.carry()
}

// feed gives up to n changes to the balancer.
func (w *world) feed(n int) error { return errors.Join(w.feedMapper(n), w.feedDistributor()) }

// feedDistributor gives the distributor what the mapper has.
func (w *world) feedDistributor() error {
	list := w.late
	w.late = nil
	return w.dist.Changes(list)
}

// feedMapper gives up to n changes to the mapper alone: its quanta reach the
// distributor before them.
func (w *world) feedMapper(n int) error {
	if !w.up {
		return nil
	}
	var list []balance.Change
	for _, c := range w.log {
		if c.Clock > w.fed && len(list) < n {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return nil
	}
	w.fed = list[len(list)-1].Clock
	w.late = append(w.late, list...)
	w.mapper.Changes(w.now, list)
	return w.carry()
}

func (w *world) tick(d time.Duration) error {
	w.now += d
	if !w.up {
		return nil
	}
	w.mapper.Tick(w.now)
	return w.carry()
}

// take remembers the work that the distributor gives.
func (w *world) take() {
	if w.up {
		more := w.dist.Work()
		w.work.Builds = append(w.work.Builds, more.Builds...)
		w.work.Fetches = append(w.work.Fetches, more.Fetches...)
	}
}

// build does one build that was given; most is the number of entries taken at
// most, 0: all that fit.
func (w *world) build(i, most int) error {
	b := w.work.Builds[i]
	w.work.Builds = slices.Delete(w.work.Builds, i, i+1)
	if b.Clock > w.clock {
		return fmt.Errorf("build of %s wants clock %d, there is %d", b.Node, b.Clock, w.clock)
	}
	out := balance.Built[content]{Node: b.Node, Seq: b.Seq}
	out.Payload = content{items: map[balance.Key]uint64{}, parents: map[balance.Parent]uint64{}}
	for _, e := range b.Entries {
		if out.Entries > 0 && (out.Bytes+w.itemBytes > b.MaxBytes || most > 0 && out.Entries >= most) {
			break
		}
		out.Entries++
		out.Bytes += w.itemBytes
		w.put(&out.Payload, e)
	}
	w.dist.Built(out)
	return nil
}

func (w *world) put(c *content, e balance.Entry) {
	if e.Key == 0 {
		c.parents[e.Parent] = w.parents[e.Parent]
		return
	}
	version, there := w.items[e.Key]
	if !there {
		c.deleted = append(c.deleted, e.Key)
		return
	}
	c.items[e.Key] = version
	c.parents[parentOf(e.Key)] = w.parents[parentOf(e.Key)]
}

// fetch does one fetch that was given; meanwhile happens between reading and
// answering.
func (w *world) fetch(i int, meanwhile func() error) error {
	f := w.work.Fetches[i]
	w.work.Fetches = slices.Delete(w.work.Fetches, i, i+1)
	out := balance.Fetched{Node: f.Node, Seq: f.Seq, Stale: f.After < w.compacted}
	for _, c := range w.log {
		if !out.Stale && c.Clock > f.After && len(out.Changes) < f.Limit {
			out.Changes = append(out.Changes, c)
		}
	}
	if err := meanwhile(); err != nil {
		return err
	}
	w.dist.Fetched(out)
	return nil
}

// compact forgets the log up to clock.
func (w *world) compact(clock uint64) {
	w.compacted = max(w.compacted, min(clock, w.clock))
	w.log = slices.DeleteFunc(w.log, func(c balance.Change) bool { return c.Clock <= w.compacted })
}

// node returns the slave with a name, new with an empty disk if there is none.
func (w *world) node(name string) *node {
	n, ok := w.nodes[name]
	if !ok {
		n = &node{name: name}
		n.wipe()
		w.nodes[name] = n
	}
	return n
}

func (n *node) wipe() {
	n.pos, n.table, n.epoch = balance.Position{}, balance.Table{}, 0
	n.items, n.parents = map[balance.Key]uint64{}, map[balance.Parent]uint64{}
}

// register announces a node.
func (w *world) register(n *node) error {
	j := balance.Joining{Name: n.name, Address: n.name + ":1", Position: n.pos, Table: n.table}
	welcome, err := w.dist.Register(j, w.clock)
	if err != nil {
		return err
	}
	n.epoch, n.catchUp = w.epoch, welcome.CatchUp
	if err := w.mapper.Join(w.now, j); err != nil {
		return err
	}
	return w.carry()
}

// pull has a node ask once; lost: the answer does not arrive. It returns
// whether a bucket was applied.
func (w *world) pull(n *node, lost bool) (bool, error) {
	if n.dead || !w.up {
		return false, nil
	}
	if n.epoch == 0 {
		return false, w.register(n)
	}
	b, err := w.dist.Pull(n.name, n.epoch, n.pos)
	if fault.Is(err, fault.Stale) || fault.Is(err, fault.NotFound) {
		n.epoch = 0
		return false, nil
	}
	if err != nil || b == nil || lost {
		return false, err
	}
	return true, w.apply(n, *b)
}

// apply is what a store does.
func (w *world) apply(n *node, b balance.Bucket[content]) error {
	if b.Reset {
		pos := n.pos
		n.resets++
		epoch := n.epoch
		n.wipe()
		n.epoch, n.pos = epoch, pos
	} else if b.From != n.pos {
		return fmt.Errorf("%s stands at %s and was given %s to %s", n.name, n.pos, b.From, b.To)
	}
	for k := range n.items {
		if _, stays := b.Payload.items[k]; !stays && covers(b.Cleared, k) {
			delete(n.items, k)
		}
	}
	for k, v := range b.Payload.items {
		if v < n.items[k] {
			return fmt.Errorf("%s: item %x goes back from %d to %d", n.name, k, n.items[k], v)
		}
		n.items[k] = v
	}
	for p, v := range b.Payload.parents {
		if v < n.parents[p] {
			return fmt.Errorf("%s: parent %v goes back", n.name, p)
		}
		n.parents[p] = v
	}
	for _, k := range b.Payload.deleted {
		delete(n.items, k)
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
	return slices.ContainsFunc(list, func(v balance.Interval) bool { return k >= v.Lo && k <= v.Hi })
}

// check holds a node against the history: what its position promises is there.
func (w *world) check(n *node) error {
	covered := func(k balance.Key) bool {
		for _, v := range n.table.Coverage() {
			if k >= v.Lo && k <= v.Hi {
				return true
			}
		}
		return false
	}
	for k := range n.items {
		if !covered(k) {
			return fmt.Errorf("%s holds %x, which lies in none of its slices", n.name, k)
		}
		if n.parents[parentOf(k)] == 0 {
			return fmt.Errorf("%s holds %x without its parent", n.name, k)
		}
	}
	for k, clocks := range w.history {
		if !covered(k) || n.pos.Offset != 0 && uint64(k) >= n.pos.Offset {
			continue
		}
		promised := uint64(0)
		for _, c := range clocks {
			if c <= n.pos.Clock {
				promised = c
			}
		}
		now, exists := w.items[k]
		if have, held := n.items[k]; held && have < promised || !held && exists && now <= n.pos.Clock {
			return fmt.Errorf("%s at %s holds %x of %d, promised is %d", n.name, n.pos, k, have, promised)
		}
	}
	return w.checkServed()
}

// checkServed: in each view each key is served by at most one node.
func (w *world) checkServed() error {
	for _, viewer := range w.nodes {
		view := viewer.table.View
		var served []balance.Held
		for _, n := range w.nodes {
			for _, h := range n.table.Slices {
				if h.From != 0 && h.From <= view && (h.Until == 0 || view <= h.Until) {
					served = append(served, h)
				}
			}
		}
		slices.SortFunc(served, func(a, b balance.Held) int { return cmp.Compare(a.Lo, b.Lo) })
		for i := 1; i < len(served); i++ {
			if served[i].Lo <= served[i-1].Hi {
				return fmt.Errorf("slices %d and %d are both served in view %d", served[i-1].ID, served[i].ID, view)
			}
		}
	}
	return nil
}

// round lets everything run undisturbed once; it tells whether something
// happened.
func (w *world) round() (busy bool, err error) {
	if !w.up {
		return false, nil
	}
	if err := errors.Join(w.persist(), w.feed(1<<20), w.tick(balance.DefaultBeat)); err != nil {
		return false, err
	}
	w.take()
	for ; len(w.work.Builds) > 0; busy = true {
		if err := w.build(0, 0); err != nil {
			return false, err
		}
	}
	for ; len(w.work.Fetches) > 0; busy = true {
		if err := w.fetch(0, func() error { return nil }); err != nil {
			return false, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		applied, err := w.pull(w.nodes[name], false)
		if err != nil {
			return false, err
		}
		busy = busy || applied
	}
	return busy, nil
}

// settle runs until nothing happens any more.
func (w *world) settle() error {
	for idle := 0; idle < 3; idle++ {
		busy, err := w.round()
		if err != nil {
			return err
		}
		if busy {
			idle = 0
		}
	}
	return nil
}

// complete: the nodes hold all items, each once, with the newest content, and
// serve the whole ring.
func (w *world) complete() error {
	seen := 0
	var served balance.Key
	for _, n := range w.nodes {
		for k, v := range n.items {
			seen++
			if w.items[k] != v {
				return fmt.Errorf("%s holds %x of %d, the newest is %d", n.name, k, v, w.items[k])
			}
			if p := parentOf(k); n.parents[p] != w.parents[p] {
				return fmt.Errorf("%s holds parent %v of %d, the newest is %d", n.name, p, n.parents[p], w.parents[p])
			}
		}
		for _, h := range n.table.Slices {
			if h.From == 0 {
				return fmt.Errorf("%s does not serve slice %d", n.name, h.ID)
			}
			served += h.Hi - h.Lo + 1
		}
	}
	if seen != len(w.items) || served != 0 {
		return fmt.Errorf("%d items are held, there are %d; served are %x keys of the ring", seen, len(w.items), uint64(served))
	}
	return nil
}
