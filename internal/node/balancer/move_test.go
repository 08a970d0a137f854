package balancer

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/balance"
	"adshard/balance/mapper"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/schema/pb"
	"adshard/search"
)

// TestMovesUnderQueries: slices move around while queries are asked and data changes. Every answer
// is complete and right, and nothing is left behind.
func TestMovesUnderQueries(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("run", func(t *testing.T) { // it ends before the check for leaks
		w := newWorld(t, 3, nil)
		end := w.ask()
		names := []string{"slave-0", "slave-1", "slave-2"}
		for round := range 3 {
			for i, name := range names {
				for _, id := range w.on(name)[:1] {
					w.move(id, names[(i+1)%3])
				}
			}
			w.other(10*round, 10)
			w.eventually("moved", w.still)
		}
		w.eventually("clean", w.clean)
		end().all(t)
		if v := w.model().View(); v < 4 {
			t.Errorf("view %d after all", v)
		}
	})
}

// TestASlaveIsAddedAndDrained: the drained slave holds and serves nothing and can be removed, and
// no answer lacks anything.
func TestASlaveIsAddedAndDrained(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil) // there are no iterations
	end := w.ask()
	w.add("slave-2", barreltest.InMemory(t, "slave-2"))
	w.eventually("joined", func() bool { _, ok := w.model().Named("slave-2"); return ok })
	w.Must(w.tell(func(m *mapper.Mapper, now time.Duration) error { return m.Drain(now, "slave-0") }))
	w.eventually("drained", func() bool {
		sh, _ := w.model().Named("slave-0")
		return sh.State == balance.Drained
	})
	w.eventually("clean", w.clean)
	if n := w.nodes["slave-0"].store.Stats().Groups; n > 0 || len(w.on("slave-0")) > 0 {
		t.Errorf("the drained slave has %d groups", n)
	}
	w.nodes["slave-0"].stop()
	time.Sleep(100 * time.Millisecond)
	end().all(t)
}

// TestASlaveIsKilledAndReturns: the slave is the source or the target of a move, and returns with
// its disk or without.
func TestASlaveIsKilledAndReturns(t *testing.T) {
	for _, c := range []struct {
		name  string
		who   string
		empty bool
	}{
		{"source", "slave-0", false}, {"target", "slave-1", false},
		{"source, empty", "slave-0", true}, {"target, empty", "slave-1", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 3, nil)
			end := w.ask()
			slice := w.on("slave-0")[0]
			w.move(slice, "slave-1")
			n := w.nodes[c.who]
			n.stop()
			if c.empty {
				n.store = barreltest.InMemory(t, c.who)
				w.slaves[c.who].store = n.store
			}
			w.other(0, 5)
			time.Sleep(1500 * time.Millisecond) // longer than DeadAfter
			w.begin(n)
			w.eventually("complete again", w.complete)
			w.eventually("clean", w.clean)
			end().right(t)
		})
	}
}

// slow is a store that is slow.
type slow struct {
	barrels.Store
	pause time.Duration
}

func (s slow) Apply(ctx context.Context, d *pb.NodeData) error {
	time.Sleep(s.pause)
	return s.Store.Apply(ctx, d)
}

func (s slow) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	time.Sleep(s.pause / 4)
	return s.Store.Search(ctx, r)
}

// TestASlowSlaveHoldsNobodyUp: a slow slave gets a slice, in its own time, while others move.
func TestASlowSlaveHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	w.add("slow", slow{barreltest.InMemory(t, "slow"), 100 * time.Millisecond})
	w.eventually("joined", func() bool { _, ok := w.model().Named("slow"); return ok })
	end := w.ask()
	w.move(w.on("slave-0")[0], "slow")
	w.other(0, 5)
	w.eventually("moved", w.still)
	w.eventually("clean", w.clean)
	if len(w.on("slow")) != 1 {
		t.Errorf("the slow slave has the slices %v", w.on("slow"))
	}
	end().all(t)
}

// lying is a store with a wrong byte.
type lying struct{ barrels.Store }

func (s lying) Certify(ctx context.Context, lo, hi, bins uint64, parents []barrels.Parent) (*barrels.Certificate, error) {
	c, err := s.Store.Certify(ctx, lo, hi, bins, parents)
	if err == nil {
		for i := range c.Bins {
			if c.Bins[i].Count > 0 {
				c.Bins[i].Lo ^= 1
				break
			}
		}
	}
	return c, err
}

// TestACopyThatDiffersIsNotServed: the move is cancelled with an error in the log, and the copied
// data is deleted.
func TestACopyThatDiffersIsNotServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	w.add("liar", lying{barreltest.InMemory(t, "liar")})
	w.eventually("joined", func() bool { _, ok := w.model().Named("liar"); return ok })
	end := w.ask()
	slice := w.on("slave-0")[0]
	w.move(slice, "liar")
	w.eventually("told", func() bool { return w.heard.said("liar", fmt.Sprint(slice)) })
	w.eventually("cancelled", w.still)
	w.eventually("clean", w.clean)
	if len(w.on("liar")) > 0 {
		t.Error("the liar serves")
	}
	end().all(t)
}

// TestABalancerRestartsWhileSlicesMove: it restarts in each step of a move, or after the step if
// that was too short to be seen.
func TestABalancerRestartsWhileSlicesMove(t *testing.T) {
	t.Parallel()
	// The times are long enough that no process is taken to be dead, however slow the machine is.
	w := newWorld(t, 3, func(c *Config) { c.MasterLease, c.DeadAfter = 5*time.Second, time.Minute })
	end := w.ask()
	for i, reached := range []func(slice uint64, to string) bool{
		func(uint64, string) bool { return true },
		w.arriving,
		w.switched,
		func(slice uint64, to string) bool { return w.switched(slice, to) && w.published() },
	} {
		from, to := w.order(i)
		slice := w.on(from)[0]
		w.move(slice, to)
		w.eventually(fmt.Sprint("step ", i), func() bool { return reached(slice, to) })
		w.stop()
		w.other(5*i, 5)
		w.start()
	}
	w.eventually("moved", w.still)
	w.eventually("clean", w.clean)
	end().all(t)
}

// arriving reports whether a slave holds at least part of a slice.
func (w *world) arriving(slice uint64, to string) bool {
	return slices.ContainsFunc(w.nodes[to].store.Slices().GetSlices(), func(h *pb.HeldSlice) bool { return h.GetId() == slice })
}

// switched reports whether a slave serves a slice, or will serve it from a view that is not
// published yet.
func (w *world) switched(slice uint64, to string) bool {
	sh, ok := w.model().Named(to)
	return ok && w.slice(slice).Shard == sh.ID
}

// published reports whether masters may have the newest view.
func (w *world) published() bool {
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	p := w.b.mapper.Published()
	return p != nil && p.View() == w.b.mapper.Model().View()
}
