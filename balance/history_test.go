package balance_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"adshard/balance"
	"pgregory.net/rapid"
)

// TestRandomHistories: whatever changes, is killed, emptied, lost, delayed or
// compacted in whatever order, every step keeps its promises (world.check),
// and in the end each node holds exactly what the model gives it.
func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.IntRange(1, 4).Draw(t, "nodes"))
		for i := rapid.IntRange(0, 40).Draw(t, "items"); i > 0; i-- {
			w.write(drawKey(t), false)
		}
		for i := range w.wanted {
			w.node(fmt.Sprint("s", i))
		}
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 800).Draw(t, "steps") {
			if err := disturb(t, w); err != nil {
				t.Fatal(err)
			}
			checkBounds(t, w)
		}
		for _, n := range w.nodes {
			n.dead = false
		}
		if !w.up {
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
		}
		abandon(w)
		if err := w.settle(); err != nil {
			t.Fatal(err)
		}
		if err := w.complete(); err != nil {
			t.Fatal(err)
		}
	})
}

func drawKey(t *rapid.T) balance.Key {
	o := rapid.Uint64Range(1, 9).Draw(t, "owner")
	return balance.Key(o*0x1c71c71c<<32 | rapid.Uint64Range(1, 6).Draw(t, "item"))
}

// abandon gives work back that was begun and never ended.
func abandon(w *world) {
	for _, b := range w.work.Builds {
		w.dist.Failed(b.Node, b.Seq)
	}
	for _, f := range w.work.Fetches {
		w.dist.Failed(f.Node, f.Seq)
	}
	w.work = balance.Work{}
}

// disturb does one random step.
func disturb(t *rapid.T, w *world) error {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(w.nodes))).Draw(t, "node")
	n := w.nodes[name]
	switch rapid.IntRange(0, 20).Draw(t, "step") {
	case 0, 1:
		w.write(drawKey(t), false)
	case 2:
		abandon(w)
		_, err := w.round()
		return err
	case 3:
		w.write(drawKey(t), true)
	case 4:
		w.touch(owner(drawKey(t)))
	case 5:
		return w.feed(rapid.IntRange(1, 40).Draw(t, "changes"))
	case 6:
		return w.feedMapper(rapid.IntRange(1, 8).Draw(t, "changes"))
	case 7, 8:
		return w.tick(rapid.SampledFrom([]time.Duration{time.Millisecond, balance.DefaultPace, balance.DefaultBeat}).Draw(t, "time"))
	case 9:
		return w.persist()
	case 10, 11, 12, 13:
		return work(t, w)
	case 14, 15, 16:
		_, err := w.pull(n, rapid.IntRange(0, 5).Draw(t, "lost") == 0)
		return err
	case 17:
		n.dead = !n.dead
		epoch := n.epoch
		if rapid.IntRange(0, 3).Draw(t, "disk") == 0 {
			n.wipe()
		}
		n.epoch = epoch
		if rapid.Bool().Draw(t, "register") {
			n.epoch = 0
		}
	case 18:
		if rapid.Bool().Draw(t, "gone") {
			w.up = false
			return nil
		}
		return w.start()
	case 19, 20:
		least := w.fed // what the balancer itself still has to read is held
		if rapid.IntRange(0, 3).Draw(t, "far") > 0 {
			for _, n := range w.nodes {
				least = min(least, n.pos.Clock)
			}
		}
		w.compact(least)
	}
	return nil
}

// work does some of what the distributor wants, in any order.
func work(t *rapid.T, w *world) error {
	if !w.up {
		return nil
	}
	w.take()
	if n := len(w.work.Fetches); n > 0 {
		err := w.fetch(rapid.IntRange(0, n-1).Draw(t, "fetch"), func() error {
			for i := rapid.IntRange(0, 20).Draw(t, "meanwhile"); i > 0; i-- {
				w.write(drawKey(t), false)
			}
			return w.feed(rapid.IntRange(1, 40).Draw(t, "changes"))
		})
		if err != nil {
			return err
		}
	}
	if n := len(w.work.Builds); n > 0 {
		i := rapid.IntRange(0, n-1).Draw(t, "build")
		if rapid.IntRange(0, 7).Draw(t, "fails") == 0 {
			w.dist.Failed(w.work.Builds[i].Node, w.work.Builds[i].Seq)
			w.work.Builds = slices.Delete(w.work.Builds, i, i+1)
			return nil
		}
		return w.build(i, rapid.IntRange(0, 3).Draw(t, "most"))
	}
	return nil
}

// checkBounds: what is ready for a node stays within the configured bytes, but
// for the last bucket.
func checkBounds(t *rapid.T, w *world) {
	for name := range w.nodes {
		if got := w.dist.QueuedBytes(name); got > w.config.NodeBytes+w.config.BucketBytes+w.itemBytes {
			t.Fatalf("%d bytes are ready for %s", got, name)
		}
	}
}
