package mapper_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/delivery"
	"adshard/balance/mapper"
	balancemaps "adshard/balance/maps"
	"adshard/balance/strategy"
)

// content is the content of a bucket in these tests: versions of items and
// parents; an item's version is the clock of its last change.
type content struct {
	items   map[balance.Key]uint64
	parents map[balance.Parent]uint64
	deleted []balance.Key
}

// world simulates a source of truth, a balancer, distributors, slaves and masters,
// which the tests drive step by step. The upper half of a key is the owner, and each
// owner has one parent record.
type world struct {
	clock     uint64
	items     map[balance.Key]uint64
	parents   map[balance.Parent]uint64
	log       []balance.Change
	compacted uint64
	history   map[balance.Key][]uint64
	touched   map[balance.Parent][]uint64

	now    time.Duration
	plan   cluster.Config
	config delivery.Config
	saved  []byte
	epoch  uint64
	up     bool
	save   *balancemaps.SaveState // requested, but not durable yet
	index  *balance.Index
	mapper *mapper.Mapper
	fed    uint64 // number of changes given to the mapper
	dists  []*testDistributor
	events []string // the mapper's events
	asked  []balance.Certify
	views  map[uint64]view

	// proposals holds what the strategy proposes next.
	proposals [][]balance.Op

	slaves    map[string]*testSlave
	masters   map[string]*master
	itemBytes int
}

// testDistributor is a distributor with the messages on their way to it.
type testDistributor struct {
	distributor *delivery.Distributor[content]
	changes     []balance.Change
	quanta      []balance.Quantum
	slow        bool // its quanta do not arrive
	work        delivery.Work
}

func newWorld(wanted int) *world {
	w := &world{
		items: map[balance.Key]uint64{}, parents: map[balance.Parent]uint64{},
		history: map[balance.Key][]uint64{}, slaves: map[string]*testSlave{}, masters: map[string]*master{}, itemBytes: 100,
		views: map[uint64]view{}, touched: map[balance.Parent][]uint64{},
		config: delivery.Config{BucketBytes: 1000, NodeBytes: 4000, Ahead: 3, Changes: 16, Entries: 8},
		dists:  []*testDistributor{{}},
	}
	w.plan = cluster.Config{
		Order: balance.ByOwner, Slaves: wanted, Strategy: (*proposer)(w),
		Pace: cluster.DefaultPace, Beat: cluster.DefaultBeat, Interval: cluster.DefaultInterval,
		DeadAfter: cluster.DefaultDeadAfter, Stall: cluster.DefaultStall,
		MasterLease: cluster.DefaultMasterLease, Linger: cluster.DefaultLinger,
	}
	return w
}

// proposer is the strategy: its first plan is that of the strategy original,
// later proposals are those of the test.
type proposer world

func (p *proposer) Name() string { return "test" }

func (p *proposer) Initial(in balance.Input) (balance.Proposal, error) {
	return strategy.Original{}.Initial(in)
}

func (p *proposer) Iterate(balance.Input) (balance.Proposal, error) {
	if len(p.proposals) == 0 {
		return balance.Proposal{}, nil
	}
	ops := p.proposals[0]
	p.proposals = p.proposals[1:]
	out := balance.Proposal{Ops: ops}
	for i := range ops {
		out.Reasons = append(out.Reasons, balance.Reason{Op: i, Text: "the test wants it"})
	}
	return out, nil
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

// touch changes the parent record of an owner.
func (w *world) touch(o uint64) {
	w.clock++
	p := balance.Parent{Kind: 1, ID: o}
	w.parents[p] = w.clock
	w.touched[p] = append(w.touched[p], w.clock)
	w.log = append(w.log, balance.Change{
		Clock: w.clock, Parent: p,
		Items: balance.Interval{Lo: balance.Key(o << 32), Hi: balance.Key(o<<32 | 0xffffffff)},
	})
}

// compact drops the log up to clock.
func (w *world) compact(clock uint64) {
	w.compacted = max(w.compacted, min(clock, w.clock))
	w.log = slices.DeleteFunc(w.log, func(c balance.Change) bool { return c.Clock <= w.compacted })
}

// start starts a balancer and its distributors; running ones are killed.
func (w *world) start() error {
	w.epoch++
	w.save, w.asked, w.up = nil, nil, true
	w.index = &balance.Index{}
	for k := range w.items {
		w.index.Put(k, 1)
	}
	w.plan.Epoch, w.config.Epoch = w.epoch, w.epoch
	m, err := mapper.New(w.plan, w.index, w.saved)
	if err != nil {
		return err
	}
	w.mapper, w.fed = m, w.clock
	for i := range w.dists {
		if err := w.replace(i); err != nil {
			return err
		}
	}
	m.Loaded(w.now, w.clock)
	w.remember()
	return w.carry()
}

// replace puts a new distributor in the place of one. It knows what the mapper
// tells it, but nothing about the slaves.
func (w *world) replace(i int) error {
	fresh := delivery.New[content](w.config, w.index, w.fed)
	w.dists[i] = &testDistributor{distributor: fresh}
	if q, ok := w.mapper.Reinit(); ok {
		return fresh.Quantum(q)
	}
	return nil
}

// carry delivers the mapper's messages.
func (w *world) carry() error {
	out := w.mapper.Out()
	if out.Save != nil {
		w.save = out.Save
	}
	for _, err := range out.Troubles {
		w.events = append(w.events, "trouble: "+err.Error())
	}
	for _, e := range out.Events {
		w.events = append(w.events, "- "+e.String())
	}
	w.asked = append(w.asked, out.Certify...)
	var errs []error
	for _, d := range out.Discards {
		errs = append(errs, w.discard(d))
	}
	for _, d := range w.dists {
		d.quanta = append(d.quanta, out.Quanta...)
		if !d.slow {
			errs = append(errs, d.receive())
		}
	}
	return errors.Join(errs...)
}

// receive delivers the quanta that are on their way.
func (d *testDistributor) receive() error {
	for _, q := range d.quanta {
		if err := d.distributor.Quantum(q); err != nil {
			return err
		}
	}
	d.quanta = nil
	return nil
}

// follow delivers the changes that the mapper has.
func (d *testDistributor) follow() error {
	list := d.changes
	d.changes = nil
	return d.distributor.Changes(list)
}

// persist makes the state durable for which the mapper asked.
func (w *world) persist() error {
	if w.save == nil || !w.up {
		return nil
	}
	s := w.save
	w.save, w.saved = nil, s.Bytes
	w.mapper.Saved(w.now, s.Seq)
	w.remember()
	return w.carry()
}

// remember records which shard serves what in the newest view.
func (w *world) remember() {
	if m := w.mapper.Model(); m != nil {
		v := view{slices: m.Slices(), names: map[balance.ShardID]string{}}
		for _, sh := range m.Shards() {
			v.names[sh.ID] = sh.Name
		}
		w.views[m.View()] = v
	}
}

// view is the map of a view: which shard serves what.
type view struct {
	slices []balance.Slice
	names  map[balance.ShardID]string
}

// feed gives the balancer up to n changes and delivers the changes that its
// distributors lack.
func (w *world) feed(n int) error {
	errs := []error{w.feedMapper(n)}
	for _, d := range w.dists {
		errs = append(errs, d.follow())
	}
	return errors.Join(errs...)
}

// feedMapper gives up to n changes only to the mapper: its quanta reach the
// distributors before the changes do.
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
	for _, d := range w.dists {
		d.changes = append(d.changes, list...)
	}
	w.mapper.Changes(w.now, list)
	return w.carry()
}

func (w *world) tick(d time.Duration) error {
	w.now += d
	if !w.up {
		return nil
	}
	w.mapper.Tick(w.now)
	w.excuse()
	return w.carry()
}

// round lets everything run undisturbed once, and reports whether anything
// happened.
func (w *world) round() (busy bool, err error) {
	if !w.up {
		return false, nil
	}
	if err := errors.Join(w.persist(), w.feed(1<<20), w.tick(cluster.DefaultBeat)); err != nil {
		return false, err
	}
	for _, d := range w.dists {
		w.take(d)
		for ; len(d.work.Builds) > 0; busy = true {
			if err := w.build(d, 0, 0); err != nil {
				return false, err
			}
		}
		for ; len(d.work.Fetches) > 0; busy = true {
			if err := w.fetch(d, 0, func() error { return nil }); err != nil {
				return false, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.slaves)) {
		n := w.slaves[name]
		applied, err := w.pull(n, false)
		if err := errors.Join(err, w.report(n)); err != nil {
			return false, err
		}
		busy = busy || applied
	}
	for len(w.asked) > 0 {
		if err := w.certify(0); err != nil {
			return false, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.masters)) {
		w.poll(w.masters[name], false)
	}
	return busy || w.moving(), w.checkViews()
}

// moving reports whether any slice is moving or a state is to be saved.
func (w *world) moving() bool {
	m := w.mapper.Model()
	return w.save != nil || m != nil && slices.ContainsFunc(m.Slices(), func(s balance.Slice) bool { return s.Move.Phase != balance.NoMove })
}

// settle runs until nothing more happens.
func (w *world) settle() error {
	for idle, rounds := 0, 0; idle < 3; idle++ {
		busy, err := w.round()
		if err != nil {
			return err
		}
		if busy {
			idle = 0
		}
		if rounds++; rounds > 5000 {
			return fmt.Errorf("the cluster does not come to rest")
		}
	}
	return nil
}
