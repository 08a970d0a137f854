package mapper_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/plan"
)

// learner is a strategy that remembers how often its proposals were accepted: one byte
// more each time.
type learner struct {
	name string
	grow int // bytes for each; 0 means 1
	ops  func(in balance.Input) []balance.Op
	seen []int // the length of its memory, by iteration
	at   []time.Time
	to   func(in balance.Input, leaving []balance.Slice) []balance.ShardID
}

func (l *learner) Name() string { return l.name }

func (l *learner) Initial(in balance.Input) (balance.Proposal, error) {
	p, err := dealt(in, 6)
	p.Memory = []byte{1}
	l.at = append(l.at, in.Time)
	return p, err
}

func (l *learner) Iterate(in balance.Input) (balance.Proposal, error) {
	l.seen, l.at = append(l.seen, len(in.Memory)), append(l.at, in.Time)
	p := balance.Proposal{Memory: append(slices.Clone(in.Memory), make([]byte, max(1, l.grow))...)}
	if l.ops != nil {
		p.Ops = l.ops(in)
	}
	return p, nil
}

// Refuges implements balance.Refuge.
func (l *learner) Refuges(in balance.Input, leaving []balance.Slice) []balance.ShardID {
	if l.to == nil {
		return nil
	}
	return l.to(in, leaving)
}

func newLearner(t *testing.T, name string, change func(*cluster.Config)) (*rig, *learner) {
	t.Helper()
	l := &learner{name: name}
	r := newRig(t, 6, func(c *cluster.Config) {
		c.Strategy, c.Interval, c.Began = l, rigInterval, time.Unix(1000, 0)
		if change != nil {
			change(c)
		}
	}, "a", "b", "c")
	return r, l
}

// TestMemory: a strategy gets back what it remembered, from the first plan on, and after a
// restart what was durable.
func TestMemory(t *testing.T) {
	r, l := newLearner(t, "learner", nil)
	r.pass(2*rigInterval + time.Second)
	if !slices.Equal(l.seen, []int{1, 2}) {
		t.Fatalf("it remembered %v", l.seen)
	}
	r.restart("a", "b", "c")
	r.ackAll()
	l.seen = nil
	r.pass(rigInterval + time.Second)
	if !slices.Equal(l.seen, []int{3}) {
		t.Errorf("after a restart it remembered %v", l.seen)
	}
	r.slow = true // what it learns now does not become durable
	r.pass(rigInterval + time.Second)
	r.slow = false
	r.restart("a", "b", "c")
	r.ackAll()
	l.seen = nil
	r.pass(rigInterval + time.Second)
	if !slices.Equal(l.seen, []int{4}) {
		t.Errorf("after a restart before the memory was durable it remembered %v", l.seen)
	}
}

// TestMemoryFitsTheModel tests that the memory and the operations of a proposal become
// durable together.
func TestMemoryFitsTheModel(t *testing.T) {
	r, l := newLearner(t, "learner", nil)
	l.ops = func(in balance.Input) []balance.Op {
		v := in.Model.Slices()[0]
		e := in.Model.Edit()
		_, err := e.Split(v.ID, v.Lo+(v.Hi-v.Lo)/2)
		r.must(err)
		return e.Ops()
	}
	for range 4 {
		r.pass(rigInterval + time.Second)
		if extra := len(r.m.Model().Slices()) - 6; extra != len(l.seen) {
			t.Fatalf("%d splits after %d iterations", extra, len(l.seen))
		}
		r.slow = true
		r.pass(rigInterval + time.Second)
		r.slow = false
		r.restart("a", "b", "c")
		r.ackAll()
		durable, err := balance.DecodeState(r.state)
		r.must(err)
		if n := len(durable.Model.Slices()) - 6 + 1; len(durable.Memories) != 1 || len(durable.Memories[0].Bytes) != n {
			t.Fatalf("%d slices and %+v", n, durable.Memories)
		}
		l.seen = make([]int, len(r.m.Model().Slices())-6)
	}
}

// TestMemoryOfShadows: a strategy in shadow has its own memory, which survives a restart,
// and starts with an empty memory when it comes into use.
func TestMemoryOfShadows(t *testing.T) {
	shadow := &learner{name: "shadow", grow: 10}
	r, l := newLearner(t, "learner", func(c *cluster.Config) { c.Shadows = []balance.Strategy{shadow} })
	r.pass(3*rigInterval + time.Second)
	if !slices.Equal(l.seen, []int{1, 2, 3}) || !slices.Equal(shadow.seen, []int{0, 10, 20}) {
		t.Fatalf("in use %v, in shadow %v", l.seen, shadow.seen)
	}
	r.restart("a", "b", "c")
	r.ackAll()
	r.pass(rigInterval + time.Second)
	if l.seen[3] != 4 || shadow.seen[3] != 30 {
		t.Errorf("after a restart: in use %v, in shadow %v", l.seen, shadow.seen)
	}
	r.cfg.Strategy, r.cfg.Shadows = shadow, []balance.Strategy{l}
	r.restart("a", "b", "c")
	r.ackAll()
	r.pass(rigInterval + time.Second)
	if l.seen[4] != 0 || shadow.seen[4] != 0 {
		t.Errorf("after a change of roles: in use %v, in shadow %v", shadow.seen, l.seen)
	}
}

// TestMemoryIsDropped: memory is dropped when another strategy, or the same one with other
// options, comes into use. This is durable, even if nothing else happens.
func TestMemoryIsDropped(t *testing.T) {
	r, l := newLearner(t, "learner", nil)
	r.pass(2*rigInterval + time.Second)
	again := &learner{name: "learner"}
	r.m.Pause(true)
	r.m.Use(r.now, again)
	r.carry()
	r.pass(time.Second)
	r.cfg.Strategy = again
	r.restart("a", "b", "c")
	r.ackAll()
	r.pass(rigInterval + time.Second)
	if !slices.Equal(again.seen, []int{0}) {
		t.Errorf("with other options it remembered %v", again.seen)
	}
	r.m.Use(r.now, stubborn{})
	r.carry()
	r.m.Use(r.now, l)
	r.carry()
	if last := l.seen[len(l.seen)-1]; last != 0 {
		t.Errorf("back after another one it remembered %v", l.seen)
	}
}

// TestMemoryTooLarge: a proposal with too large a memory is refused completely.
func TestMemoryTooLarge(t *testing.T) {
	r, l := newLearner(t, "learner", nil)
	l.grow = balance.MaxMemory
	l.ops = func(in balance.Input) []balance.Op {
		return []balance.Op{{Kind: balance.OpStart, Slice: in.Model.Slices()[0].ID, Shard: 2}}
	}
	r.pass(2*rigInterval + time.Second)
	r.wantTrouble("strategy learner: it wants to remember 65537 bytes, and a strategy may remember at most 65536")
	r.phase(0, balance.NoMove)
	if !slices.Equal(l.seen, []int{1, 1}) {
		t.Errorf("it remembered %v", l.seen)
	}
	shards := []balance.Shard{{Name: "a"}}
	if _, _, err := plan.Initial(forgetful{l}, balance.ByHash, shards, r.index, nil); err == nil || !strings.Contains(err.Error(), "at most 65536") {
		t.Errorf("a first plan with too large a memory: %v", err)
	}
}

// forgetful is a strategy whose first plan has too large a memory.
type forgetful struct{ *learner }

func (f forgetful) Initial(in balance.Input) (balance.Proposal, error) {
	p, err := f.learner.Initial(in)
	p.Memory = make([]byte, balance.MaxMemory+1)
	return p, err
}

// TestTimeOfDay: strategies see the time of day that the mapper's caller sees.
func TestTimeOfDay(t *testing.T) {
	r, l := newLearner(t, "learner", nil)
	r.pass(2*rigInterval + time.Second)
	if len(l.at) != 3 || l.at[0].Before(time.Unix(1000, 0)) || l.at[2].Sub(l.at[1]) != rigInterval {
		t.Errorf("it was %v", l.at)
	}
}

// TestRefuge: slices that must leave go where the strategy wants them. They go to the
// least loaded slave if they may not go there, or if the strategy does not say where.
func TestRefuge(t *testing.T) {
	r, l := newLearner(t, "learner", nil)
	var asked []balance.Slice
	l.to = func(in balance.Input, leaving []balance.Slice) []balance.ShardID {
		asked = slices.Clone(leaving)
		return []balance.ShardID{3, leaving[1].Shard} // the second answer is the shard that the slice leaves
	}
	r.must(r.m.Drain(r.now, "a"))
	r.carry()
	r.pass(rigInterval + time.Second)
	if len(asked) != 2 || asked[0].Shard != 1 || asked[1].Shard != 1 {
		t.Fatalf("asked for %+v", asked)
	}
	if first, _ := r.byID(asked[0].ID); first.Move.Other != 3 {
		t.Errorf("the first goes %+v", first)
	}
	if second, _ := r.byID(asked[1].ID); second.Move.Other != 2 {
		t.Errorf("the second goes %+v", second)
	}
	r.must(r.m.Restore(r.now, "a"))
	l.to = func(balance.Input, []balance.Slice) []balance.ShardID { return nil }
	r.must(r.m.Drain(r.now, "b"))
	r.carry()
	r.pass(rigInterval + time.Second)
	if left := r.m.Model().Slices()[1]; left.Move.Phase != balance.Copying {
		t.Errorf("without a word of the strategy slices stay: %+v", left)
	}
}

func (r *rig) byID(id uint64) (balance.Slice, bool) {
	i := slices.IndexFunc(r.m.Model().Slices(), func(s balance.Slice) bool { return s.ID == id })
	if i < 0 {
		return balance.Slice{}, false
	}
	return r.m.Model().Slices()[i], true
}
