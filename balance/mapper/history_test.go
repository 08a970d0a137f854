package mapper_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/delivery"
	"adshard/fault"
)

// TestRandomHistories: whatever changes, moves, is killed, emptied, set back, lost,
// delayed or compacted, in whatever order, every step keeps its promises
// (world.check), and in the end each slave holds exactly what the model gives it.
func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := hastyWorld(rapid.IntRange(1, 4).Draw(t, "slaves"))
		w.config.Repeat = drawRepeat(t)
		for i := rapid.IntRange(0, 40).Draw(t, "items"); i > 0; i-- {
			w.write(drawKey(t), false)
		}
		for i := range w.plan.Slaves {
			w.slave(fmt.Sprint("s", i))
		}
		w.dists = make([]*testDistributor, rapid.IntRange(1, 2).Draw(t, "distributors"))
		must(t, w.start())
		if rapid.Bool().Draw(t, "begin at rest") {
			must(t, w.settle())
		}
		for range rapid.IntRange(0, 600).Draw(t, "steps") {
			must(t, disturb(t, w))
			checkBounds(t, w)
		}
		must(t, calm(w))
		must(t, w.settle())
		must(t, w.heal())
		must(t, w.settle())
		must(t, w.complete())
	})
}

// heal runs the world until the scrub has found all damage.
func (w *world) heal() error {
	for range 100 {
		if !slices.ContainsFunc(slices.Collect(maps.Values(w.slaves)), func(n *testSlave) bool { return len(n.damaged) > 0 }) {
			return nil
		}
		if _, err := w.round(); err != nil {
			return err
		}
	}
	return fmt.Errorf("damage was not found: %+v", w.mapper.Status(w.now).Scrub)
}

// hastyWorld returns a world with short times.
func hastyWorld(shards int) *world {
	w := newWorld(shards)
	w.plan.Interval = time.Second
	w.plan.DeadAfter, w.plan.Stall = 5*time.Second, 10*time.Second
	w.plan.MasterLease, w.plan.Linger = 2*time.Second, 500*time.Millisecond
	w.plan.Scrub, w.plan.ScrubShare = 3*time.Second, 1
	return w
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// calm ends all disturbances.
func calm(w *world) error {
	for _, n := range w.slaves {
		n.dead, n.trouble = false, ""
	}
	w.proposals = nil
	if !w.up {
		return w.start()
	}
	for _, d := range w.dists {
		d.slow = false
		if err := d.receive(); err != nil {
			return err
		}
	}
	w.mapper.Pause(false)
	abandon(w)
	return nil
}

// drawRepeat draws how fast an item may be sent again: at once, or after some steps of
// the world's time.
func drawRepeat(t *rapid.T) int { return rapid.SampledFrom([]int{0, 2000, 1000}).Draw(t, "repeat") }

func drawKey(t *rapid.T) balance.Key {
	o := rapid.Uint64Range(1, 9).Draw(t, "owner")
	return balance.Key(o*0x1c71c71c<<32 | rapid.Uint64Range(1, 6).Draw(t, "item"))
}

// abandon reports work that was begun and never ended as failed.
func abandon(w *world) {
	for _, d := range w.dists {
		for _, b := range d.work.Builds {
			d.distributor.Failed(b.Slave, b.Seq)
		}
		for _, f := range d.work.Fetches {
			d.distributor.Failed(f.Slave, f.Seq)
		}
		d.work = delivery.Work{}
	}
}

// disturb makes a random step.
func disturb(t *rapid.T, w *world) error {
	n := w.slaves[rapid.SampledFrom(slices.Sorted(maps.Keys(w.slaves))).Draw(t, "slave")]
	steps := map[string]func(*rapid.T, *world, *testSlave) error{
		"data": data, "run on": runOn, "feed": feed, "time": passTime, "save": save, "work": work, "pull": pull,
		"report": report, "certify": certify, "poll": poll, "move": move, "propose": propose, "compact": compact,
		"damage": damage, "slave fails": slaveFails, "balancer fails": balancerFails, "distributor fails": distributorFails,
	}
	often := strings.Fields("data data data feed time time save work work work work pull pull pull pull report report certify poll move move propose compact")
	often = append(often, "run on", "run on", "damage", "slave fails", "balancer fails", "distributor fails")
	return steps[rapid.SampledFrom(often).Draw(t, "step")](t, w, n)
}

func data(t *rapid.T, w *world, _ *testSlave) error {
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0:
		w.touch(owner(drawKey(t)))
	case 1, 2:
		w.write(drawKey(t), true)
	default:
		w.write(drawKey(t), false)
	}
	return nil
}

// damage changes the data that searches read of an item on a slave.
func damage(t *rapid.T, _ *world, n *testSlave) error {
	if k := drawKey(t); n.items[k] != 0 {
		n.damaged[k] = true
	}
	return nil
}

// runOn lets everything go on undisturbed for a while.
func runOn(t *rapid.T, w *world, _ *testSlave) error {
	abandon(w)
	for range rapid.SampledFrom([]int{1, 1, 3, 20}).Draw(t, "rounds") {
		if _, err := w.round(); err != nil {
			return err
		}
	}
	return nil
}

func feed(t *rapid.T, w *world, _ *testSlave) error {
	if rapid.Bool().Draw(t, "to the mapper") {
		return w.feedMapper(rapid.IntRange(1, 8).Draw(t, "changes"))
	}
	return w.feed(rapid.IntRange(1, 40).Draw(t, "changes"))
}

func passTime(t *rapid.T, w *world, _ *testSlave) error {
	return w.tick(rapid.SampledFrom([]time.Duration{
		time.Millisecond, cluster.DefaultPace, cluster.DefaultBeat, cluster.DefaultBeat, time.Second, 6 * time.Second,
	}).Draw(t, "time"))
}

func save(_ *rapid.T, w *world, _ *testSlave) error { return w.persist() }

func pull(t *rapid.T, w *world, n *testSlave) error {
	_, err := w.pull(n, rapid.IntRange(0, 5).Draw(t, "lost") == 0)
	return err
}

func report(t *rapid.T, w *world, n *testSlave) error {
	n.trouble = rapid.SampledFrom([]string{"", "", "", "", "the disk is full"}).Draw(t, "trouble")
	return w.report(n)
}

func certify(t *rapid.T, w *world, _ *testSlave) error {
	if len(w.asked) == 0 {
		return nil
	}
	return w.certify(rapid.IntRange(0, len(w.asked)-1).Draw(t, "question"))
}

// poll makes a master start, ask, or end.
func poll(t *rapid.T, w *world, _ *testSlave) error {
	name := fmt.Sprint("m", rapid.IntRange(0, 2).Draw(t, "master"))
	if rapid.IntRange(0, 9).Draw(t, "ends") == 0 {
		delete(w.masters, name)
		return nil
	}
	w.poll(w.master(name), rapid.IntRange(0, 3).Draw(t, "lost") == 0)
	return nil
}

// move moves a slice as people do. It is not an error if the mapper refuses this.
func move(t *rapid.T, w *world, n *testSlave) error {
	m := w.model()
	if m == nil {
		return nil
	}
	var err error
	switch rapid.IntRange(0, 10).Draw(t, "command") {
	case 10:
		err = w.mapper.Remove(w.now, n.name)
	case 0:
		err = w.mapper.Drain(w.now, n.name)
	case 1:
		err = w.mapper.Restore(w.now, n.name)
	case 2:
		w.mapper.Pause(rapid.Bool().Draw(t, "pause"))
	default:
		err = w.mapper.Move(w.now, rapid.SampledFrom(m.Slices()).Draw(t, "slice").ID, n.name)
	}
	if fault.Is(err, fault.Internal) {
		return err
	}
	return w.carry()
}

// model returns the mapper's model, or nil if there is none.
func (w *world) model() *balance.Model {
	if !w.up {
		return nil
	}
	return w.mapper.Model()
}

// propose makes the strategy propose something, perhaps nonsense.
func propose(t *rapid.T, w *world, n *testSlave) error {
	m := w.model()
	if m == nil {
		return nil
	}
	e := m.Edit()
	for range rapid.IntRange(1, 4).Draw(t, "operations") {
		list := m.Slices()
		i := rapid.IntRange(0, len(list)-1).Draw(t, "slice")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			_, _ = e.Split(list[i].ID, drawKey(t))
		case 1:
			if i+1 < len(list) {
				_ = e.Merge(list[i].ID, list[i+1].ID)
			}
		default:
			to := rapid.SampledFrom(m.Shards()).Draw(t, "to")
			_ = e.Start(list[i].ID, to.ID)
		}
	}
	w.proposals = append(w.proposals, e.Ops())
	return nil
}

// slaveFails makes a process die or come back, with its disk, an empty one or an old
// copy; or another distributor takes the slave over.
func slaveFails(t *rapid.T, w *world, n *testSlave) error {
	switch rapid.IntRange(0, 5).Draw(t, "how") {
	case 0:
		n.copy = n.clone()
		return nil
	case 1, 2:
		n.dist++
		n.epoch = 0
		return nil
	}
	n.dead = !n.dead
	n.life++
	epoch := n.epoch
	switch rapid.IntRange(0, 7).Draw(t, "disk") {
	case 0, 1:
		n.wipe()
	case 2:
		n.restore()
	}
	n.epoch = epoch
	if rapid.Bool().Draw(t, "register") {
		n.epoch = 0
	}
	return nil
}

func balancerFails(t *rapid.T, w *world, _ *testSlave) error {
	if rapid.Bool().Draw(t, "gone") {
		w.up = false
		return nil
	}
	return w.start()
}

// distributorFails replaces a distributor, or lets the mapper's quanta reach it later
// than the others.
func distributorFails(t *rapid.T, w *world, _ *testSlave) error {
	if !w.up {
		return nil
	}
	i := rapid.IntRange(0, len(w.dists)-1).Draw(t, "distributor")
	if rapid.Bool().Draw(t, "replaced") {
		return w.replace(i)
	}
	d := w.dists[i]
	if d.slow = !d.slow; !d.slow {
		return d.receive()
	}
	return nil
}

func compact(t *rapid.T, w *world, _ *testSlave) error {
	if !w.up {
		return nil
	}
	if rapid.IntRange(0, 3).Draw(t, "far") == 0 {
		w.compact(w.fed) // what the balancer itself still has to read is kept
		return nil
	}
	least := w.fed
	for _, n := range w.slaves {
		least = min(least, n.pos.Clock)
	}
	w.compact(least)
	return nil
}

// work does some of the work that a distributor requests, in any order.
func work(t *rapid.T, w *world, _ *testSlave) error {
	if !w.up {
		return nil
	}
	d := w.dists[rapid.IntRange(0, len(w.dists)-1).Draw(t, "distributor")]
	w.take(d)
	if n := len(d.work.Fetches); n > 0 {
		err := w.fetch(d, rapid.IntRange(0, n-1).Draw(t, "fetch"), func() error {
			for i := rapid.IntRange(0, 20).Draw(t, "meanwhile"); i > 0; i-- {
				w.write(drawKey(t), false)
			}
			return w.feed(rapid.IntRange(1, 40).Draw(t, "changes"))
		})
		if err != nil {
			return err
		}
	}
	if n := len(d.work.Builds); n > 0 {
		i := rapid.IntRange(0, n-1).Draw(t, "build")
		if rapid.IntRange(0, 7).Draw(t, "fails") == 0 {
			d.distributor.Failed(d.work.Builds[i].Slave, d.work.Builds[i].Seq)
			d.work.Builds = slices.Delete(d.work.Builds, i, i+1)
			return nil
		}
		return w.build(d, i, rapid.IntRange(0, 3).Draw(t, "most"))
	}
	return nil
}

// checkBounds: what is ready for a slave stays within the configured bytes, except for
// the last bucket.
func checkBounds(t *rapid.T, w *world) {
	for name := range w.slaves {
		for _, d := range w.dists {
			if got := d.distributor.QueuedBytes(name); got > w.config.NodeBytes+w.config.BucketBytes+w.itemBytes {
				t.Fatalf("%d bytes are ready for %s", got, name)
			}
		}
	}
}
