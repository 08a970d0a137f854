package mapper_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/balance/delivery"
)

// TestStreamsUnderAnyModel: a mapper waits for slaves; here nothing does.
// Slices are started, cancelled, switched, released, split and merged at any
// time, even while the results of the previous step are still being built, and
// distributors are replaced meanwhile. Each bucket keeps the promises of its
// slave's table (world.check), and in the end each slave holds what the model
// says.
func TestStreamsUnderAnyModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newAnarchy(t)
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			s.step(t)
		}
		s.settle(t)
		for _, n := range s.w.slaves {
			id, _ := s.model.Named(n.name)
			if want := s.model.Table(id.ID); !n.table.Equal(want) {
				t.Fatalf("%s has %v, wanted %v", n.name, n.table, want)
			}
			if n.resets > 1 {
				t.Fatalf("%s was filled from nothing %d times", n.name, n.resets)
			}
			for k, v := range s.w.items {
				if have, held := n.items[k]; held != covers(n.table.Coverage(), k) || held && have != v {
					t.Fatalf("%s holds %x of %d, the newest is %d: %v", n.name, k, have, v, n.table)
				}
			}
		}
	})
}

// anarchy is a world with a distributor but without a mapper.
type anarchy struct {
	w      *world
	model  *balance.Model
	number uint64
	index  *balance.Index
	dist   *testDistributor
}

func newAnarchy(t *rapid.T) *anarchy {
	s := &anarchy{w: newWorld(3), index: &balance.Index{}, number: 1}
	s.w.config.Epoch, s.w.config.Repeat = 1, drawRepeat(t)
	for i := rapid.IntRange(0, 40).Draw(t, "items"); i > 0; i-- {
		s.w.write(drawKey(t), false)
	}
	var list []balance.Shard
	for i := range 3 {
		list = append(list, balance.Shard{Name: s.w.slave(fmt.Sprint("s", i)).name})
	}
	base, err := balance.NewModel(list)
	must(t, err)
	s.model, err = base.Edit().Model()
	must(t, err)
	for k := range s.w.items {
		s.index.Put(k, 1)
	}
	s.w.fed = s.w.clock
	s.replace(t)
	return s
}

// replace starts a distributor that knows only the model.
func (s *anarchy) replace(t *rapid.T) {
	s.dist = &testDistributor{distributor: delivery.New[content](s.w.config, s.index, s.w.fed)}
	must(t, s.dist.distributor.Quantum(balance.Quantum{Epoch: 1, Number: s.number, Clock: s.w.fed, View: s.model.View(), Model: s.model}))
}

// quantum makes the distributor go on to the newest change, with or without
// operations.
func (s *anarchy) quantum(t *rapid.T, ops []balance.Op) {
	var list []balance.Change
	for _, c := range s.w.log {
		if c.Clock > s.w.fed {
			list = append(list, c)
			switch {
			case c.Key == 0:
			case c.Removed:
				s.index.Delete(c.Key)
			default:
				s.index.Put(c.Key, 1)
			}
		}
	}
	s.w.fed = s.w.clock
	must(t, s.dist.distributor.Changes(list))
	s.number++
	must(t, s.dist.distributor.Quantum(balance.Quantum{Epoch: 1, Number: s.number, Clock: s.w.fed, View: s.model.View(), Ops: ops}))
}

func (s *anarchy) step(t *rapid.T) {
	switch rapid.IntRange(0, 9).Draw(t, "step") {
	case 0, 1:
		s.w.write(drawKey(t), rapid.IntRange(0, 2).Draw(t, "removed") == 0)
	case 2:
		s.w.touch(owner(drawKey(t)))
	case 3:
		s.edit(t)
	case 4:
		s.quantum(t, nil)
	case 5, 6:
		s.take(t, rapid.IntRange(0, 3).Draw(t, "most"))
	case 7, 8:
		n := s.w.slaves[fmt.Sprint("s", rapid.IntRange(0, 2).Draw(t, "slave"))]
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			s.pull(t, n)
		}
	case 9:
		if rapid.IntRange(0, 4).Draw(t, "replaced") == 0 {
			s.replace(t)
		}
	}
}

// edit changes the model in any possible way.
func (s *anarchy) edit(t *rapid.T) {
	e := s.model.Edit()
	for range rapid.IntRange(1, 5).Draw(t, "operations") {
		list := s.model.Slices()
		i := rapid.IntRange(0, len(list)-1).Draw(t, "slice")
		id := list[i].ID
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			_, _ = e.Split(id, drawKey(t))
		case 1:
			if i+1 < len(list) {
				_ = e.Merge(id, list[i+1].ID)
			}
		case 2:
			_ = e.Cancel(id)
		case 3:
			_ = e.Switch(id)
		case 4:
			_ = e.Finish(id)
		default:
			_ = e.Start(id, balance.ShardID(rapid.IntRange(1, 3).Draw(t, "to")))
		}
	}
	if len(e.Ops()) == 0 {
		return
	}
	next, err := e.Model()
	if err != nil {
		return // a slice was switched twice in one view
	}
	s.model = next
	s.quantum(t, e.Ops())
}

// take does the work that the distributor wants; most is the largest number of
// entries that a build takes, 0: all.
func (s *anarchy) take(t *rapid.T, most int) {
	s.w.now += 50 * time.Millisecond
	s.dist.distributor.Tick(s.w.now)
	s.dist.work = s.dist.distributor.Work()
	for len(s.dist.work.Builds) > 0 {
		must(t, s.w.build(s.dist, 0, most))
	}
	for len(s.dist.work.Fetches) > 0 {
		must(t, s.w.fetch(s.dist, 0, func() error { return nil }))
	}
}

func (s *anarchy) pull(t *rapid.T, n *testSlave) bool {
	if n.epoch == 0 {
		_, err := s.dist.distributor.Register(balance.Joining{Name: n.name, Position: n.pos, Table: n.table}, s.w.clock)
		must(t, err)
		n.epoch = 1
	}
	s.dist.distributor.Defer(n.name)
	b, err := s.dist.distributor.Pull(n.name, 1, n.pos)
	if err != nil { // a new distributor: announce the slave
		n.epoch = 0
		return true
	}
	if b == nil {
		return false
	}
	must(t, s.w.apply(n, *b))
	return true
}

func (s *anarchy) settle(t *rapid.T) {
	for idle := 0; idle < 3; idle++ {
		s.w.now += delivery.DefaultPause
		s.quantum(t, nil)
		s.take(t, 0)
		for _, n := range s.w.slaves {
			for s.pull(t, n) {
				idle = 0
				s.take(t, 0)
			}
		}
	}
}
