package strategy_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy"
)

// drawn returns an input with anything that is possible: shards of several strengths,
// limits and states, moving slices, load measured or not, split keys of any kind.
func drawn(rt *rapid.T) balance.Input {
	order := rapid.SampledFrom([]balance.Order{balance.ByOwner, balance.ByHash}).Draw(rt, "order")
	in := balance.Input{Order: order, Items: &balance.Index{}, Limits: map[balance.ShardID]balance.Limit{}}
	count := rapid.SampledFrom([]int{1, 2, 3, 4, 6}).Draw(rt, "shards")
	base, err := balance.NewModel(shards(count))
	if err != nil {
		rt.Fatal(err)
	}
	loads := map[balance.Key]float64{}
	keys := []balance.Key{1 << 63}
	for i := range rapid.SampledFrom([]int{0, 1, 8, 40, 60}).Draw(rt, "items") {
		k, _ := order.Key(rapid.Uint64Range(1, 9).Draw(rt, "owner"), uint64(i+1))
		in.Items.(*balance.Index).Put(k, rapid.Uint32Range(0, 20).Draw(rt, "weight"))
		loads[k] = rapid.SampledFrom([]float64{0, 1, 1, 2, 5, 30, 200}).Draw(rt, "load")
		keys = append(keys, k)
	}
	in.Model = drawnModel(rt, base, keys, in.Limits)
	if rapid.Bool().Draw(rt, "measured") {
		in.Loads = newTrue(in.Model, in.Items.(*balance.Index), loads)
	}
	if rapid.Bool().Draw(rt, "split keys") { // anywhere, even outside their slices
		some := rapid.SampledFrom(keys)
		at := make(map[uint64]balance.Key)
		for _, s := range in.Model.Slices() {
			at[s.ID] = some.Draw(rt, "split key")
		}
		in.SplitKey = func(slice uint64) balance.Key { return at[slice] }
	}
	if rapid.Bool().Draw(rt, "topics") {
		in.Topics = drawnTopics(rt, keys)
		in.Sampled = time.Duration(rapid.IntRange(0, 20).Draw(rt, "minutes")) * time.Minute
	}
	in.Budget.Share = rapid.SampledFrom([]float64{0.05, 0.3, 0.5, 1}).Draw(rt, "budget")
	in.Time = rapid.SampledFrom([]time.Time{{}, time.Unix(4*3600, 0)}).Draw(rt, "time")
	in.Memory = rapid.SampledFrom([][]byte{nil, {1, 5}, {9, 100}, []byte("what another strategy remembers")}).Draw(rt, "memory")
	if rapid.Bool().Draw(rt, "may") {
		in.May = func(slice uint64, to balance.ShardID) (bool, string) {
			return (slice+uint64(to))%3 > 0, "it came from there a moment ago"
		}
	}
	return in
}

// drawnModel returns a model of these shards: slices split at some of the keys, moving or
// not, on shards that drain or not. It draws the limits of shards as well.
func drawnModel(rt *rapid.T, base *balance.Model, keys []balance.Key, limits map[balance.ShardID]balance.Limit) *balance.Model {
	count := len(base.Shards())
	e, all := base.Edit(), []uint64{1}
	for range rapid.SampledFrom([]int{0, 3, 12, 30}).Draw(rt, "splits") {
		if id, err := e.Split(rapid.SampledFrom(all).Draw(rt, "slice"), rapid.SampledFrom(keys).Draw(rt, "at")); err == nil {
			all = append(all, id)
		}
	}
	shard := rapid.Custom(func(rt *rapid.T) balance.ShardID {
		return balance.ShardID(rapid.IntRange(1, count).Draw(rt, "shard"))
	})
	for _, id := range all {
		_ = e.Map(id, shard.Draw(rt, "on"))
	}
	m := model(rt, e)
	e = m.Edit()
	for _, id := range all {
		if rapid.IntRange(0, 5).Draw(rt, "moves") == 0 {
			_ = e.Start(id, shard.Draw(rt, "to"))
		}
	}
	m = model(rt, e)
	e = m.Edit()
	for _, s := range m.Slices() {
		if rapid.IntRange(0, 2).Draw(rt, "switches") == 0 {
			_ = e.Switch(s.ID)
		}
	}
	for i := range count {
		id := balance.ShardID(i + 1)
		if rapid.IntRange(0, 5).Draw(rt, "drains") == 0 {
			_ = e.SetState(id, balance.Draining)
		}
		limits[id] = balance.Limit{
			Share: rapid.Uint32Range(0, 4).Draw(rt, "share"), Weight: rapid.SampledFrom([]uint64{0, 0, 50, 200}).Draw(rt, "limit"),
		}
	}
	return model(rt, e)
}

// drawnTopics returns topics of any items, even of some that no longer exist.
func drawnTopics(rt *rapid.T, keys []balance.Key) func() []balance.Topic {
	list := make([]balance.Topic, rapid.IntRange(0, 5).Draw(rt, "terms"))
	for i := range list {
		list[i].Term = uint64(i + 1)
		some := slices.Clone(keys)
		slices.Sort(some)
		for _, k := range slices.Compact(some) {
			if load := rapid.SampledFrom([]float64{0, 1, 1, 2, 30}).Draw(rt, "under"); load > 0 {
				list[i].Items = append(list[i].Items, balance.TopicItem{Key: k, Load: load})
			}
		}
	}
	return func() []balance.Topic { return list }
}

func model(t interface{ Fatal(...any) }, e *balance.Edit) *balance.Model {
	m, err := e.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// all returns every strategy, with options that make much happen even with small inputs.
func all(t testing.TB) (list []balance.Strategy) {
	options := map[string]map[string]string{
		"random": {"seed": "7"}, "weighted-move": {"merge-above": "2", "merge-share": "0.1"}, "weighted-move-fast": {"merge-above": "1"},
		"consistent-equal": {"ranges": "64"}, "consistent-fixed": {"ranges": "24"}, "topics": {"slices": "60"},
		"esdb": {"shards": "16"},
	}
	for _, name := range strategy.Names() {
		if options[name] == nil {
			options[name] = map[string]string{}
		}
		for _, o := range strategy.Options(name) {
			if o.Name == "factor" {
				options[name]["factor"], options[name]["nodes"] = "2", "4"
			}
		}
		s, err := strategy.Named(name, options[name])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// TestProposals: whatever the input, a proposal can be applied, stays within the budget
// and the limits, uses only shards that the mapper permits, is the same if it is made
// again, and has reasons.
func TestProposals(t *testing.T) {
	strategies := all(t)
	seen := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		in := drawn(rt)
		for _, s := range strategies {
			p, err := s.Iterate(in)
			if err != nil {
				rt.Fatal(err)
			}
			seen[s.Name()] += len(p.Ops)
			again, _ := s.Iterate(in)
			if !reflect.DeepEqual(p, again) {
				rt.Fatalf("%s: not the same again", s.Name())
			}
			if err := check(in, p); err != nil {
				rt.Fatalf("%s: %v", s.Name(), err)
			}
		}
	})
	for _, s := range strategies {
		if seen[s.Name()] == 0 {
			t.Errorf("%s never proposed anything", s.Name())
		}
	}
}

// check returns an error if something is wrong with a proposal.
func check(in balance.Input, p balance.Proposal) error {
	m, err := in.Model.Apply(p.Ops)
	if err != nil {
		return err
	}
	if len(p.Memory) > balance.MaxMemory {
		return fmt.Errorf("it wants to remember %d bytes", len(p.Memory))
	}
	told := map[int]bool{}
	for _, r := range p.Reasons {
		told[r.Op] = r.Text != "" && r.Op < len(p.Ops)
	}
	if len(p.Ops) == 0 && !told[-1] {
		return fmt.Errorf("nothing is done, without a reason")
	}
	origin, started := map[uint64]uint64{}, map[uint64]bool{}
	for i, o := range p.Ops {
		if !told[i] {
			return fmt.Errorf("no reason to %s", o)
		}
		switch o.Kind {
		case balance.OpSplit:
			origin[o.New] = o.Slice
			if from, ok := origin[o.Slice]; ok {
				origin[o.New] = from
			}
		case balance.OpMerge:
		case balance.OpStart:
			from := o.Slice
			if id, ok := origin[from]; ok {
				from = id
			}
			if in.May != nil {
				if ok, _ := in.May(from, o.Shard); !ok {
					return fmt.Errorf("slice %d may not go to shard %d", from, o.Shard)
				}
			}
			started[o.Slice] = true
		default:
			return fmt.Errorf("a strategy must not %s", o)
		}
	}
	return checkSums(in, m, started)
}

func checkSums(in balance.Input, m *balance.Model, started map[uint64]bool) error {
	var items, weight, allWeight float64
	has, gets := map[balance.ShardID]uint64{}, map[balance.ShardID]uint64{}
	for i, s := range load.OfSlices(in) {
		slice := in.Model.Slices()[i]
		has[slice.Shard] += s.Weight
		if slice.Target() != slice.Shard {
			has[slice.Target()] += s.Weight
		}
		allWeight += float64(s.Weight)
	}
	for i, s := range load.OfSlices(balance.Input{Model: m, Items: in.Items}) {
		slice := m.Slices()[i]
		if started[slice.ID] {
			items += float64(s.Items)
			weight += float64(s.Weight)
			gets[slice.Target()] += s.Weight
		}
	}
	if items > in.Budget.Share*float64(in.Items.Len())+1e-9 || weight > in.Budget.Share*allWeight+1e-9 {
		return fmt.Errorf("%v items and %v weight move, more than %v of all", items, weight, in.Budget.Share)
	}
	for shard, more := range gets {
		if l := in.Limits[shard].Weight; l > 0 && more > 0 && has[shard]+more > l {
			return fmt.Errorf("shard %d gets a weight of %d to its %d, its limit is %d", shard, more, has[shard], l)
		}
	}
	return nil
}

// TestComesToRest: under a constant load, a strategy that is asked again and again does
// less and less, and finally nothing.
func TestComesToRest(t *testing.T) {
	strategies := all(t)
	rapid.Check(t, func(rt *rapid.T) {
		in := drawn(rt)
		in.Loads = nil
		loads := map[balance.Key]float64{}
		in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
			loads[k] = rapid.SampledFrom([]float64{0, 1, 5, 30, 200}).Draw(rt, "load")
			return true
		})
		for _, s := range strategies {
			l := newLoop(t, finish(rt, in.Model), in.Items.(*balance.Index), maps.Clone(loads))
			l.limits, l.order, l.budget, l.topics = in.Limits, in.Order, 0.3, in.Topics
			busy := 0
			for range 60 {
				p, err := s.Iterate(l.exact())
				if err != nil {
					rt.Fatal(err)
				}
				next, err := l.m.Apply(p.Ops)
				if err != nil {
					rt.Fatal(err)
				}
				if busy = len(p.Ops); busy == 0 {
					break
				}
				l.last, l.memory = p, p.Memory
				l.settle(next, p)
			}
			if busy > 0 {
				rt.Fatalf("%s still has %d operations after 60 iterations: %v", s.Name(), busy, l.last)
			}
		}
	})
}

// finish ends all moves of a model.
func finish(rt *rapid.T, m *balance.Model) *balance.Model {
	for _, end := range []func(*balance.Edit, uint64) error{(*balance.Edit).Switch, (*balance.Edit).Finish} {
		e := m.Edit()
		for _, s := range m.Slices() {
			if s.Move.Phase != balance.NoMove {
				_ = end(e, s.ID)
			}
		}
		m = model(rt, e)
	}
	return m
}

// exact returns the input with the real loads and the loop's budget.
func (l *loop) exact() balance.Input {
	in := l.truth()
	in.Budget.Share, in.Memory, in.Topics = l.budget, l.memory, l.topics
	return in
}

// TestNoThrash: loads that go up and down by a tenth from one interval to the next move
// nothing back to where it came from. The load-aware kinds of consistent hashing, and
// autoplacer from one cycle to the next, have no dead band and rely on the mapper for
// that. They come to rest as well, except Slicer as published.
func TestNoThrash(t *testing.T) {
	for _, name := range strategy.Names() {
		s, err := strategy.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, exponent := range []float64{0.6, 1.0, 1.2} {
			l := world(t, 3, 8, 10, 2000, exponent, 0.4)
			l.rests = slices.Contains([]string{"rao-one", "rao-many", "rao-pool", "cassandra", "srinivasan", "autoplacer", "slicer"}, name)
			truth := maps.Clone(l.loads)
			keys := slices.Sorted(maps.Keys(truth)) // in order, so that each run is the same
			left := map[balance.Key][]visit{}
			late := 0
			for i := range 30 {
				for _, k := range keys {
					l.loads[k] = truth[k] * (0.9 + 0.2*l.rand.Float64())
				}
				before, moves := l.m, l.started
				l.iterate(s)
				if l.started == moves {
					continue // all items are where they were
				}
				l.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
					from, to := before.At(k).Shard, l.m.At(k).Shard
					if from == to {
						return true
					}
					for _, v := range left[k] {
						if v.shard == to && i-v.iteration < 10 {
							t.Fatalf("%s: item %x left shard %d in iteration %d and is back in %d", name, uint64(k), to, v.iteration, i)
						}
					}
					left[k] = append(left[k], visit{from, i})
					return true
				})
				if i >= 20 {
					late += l.started - moves
				}
			}
			if name != "random" && name != "slicer" && late > 3 {
				t.Errorf("%s, Zipf %v: still %d moves in the last 10 iterations", name, exponent, late)
			}
		}
	}
}

// visit says that an item was on a shard until an iteration.
type visit struct {
	shard     balance.ShardID
	iteration int
}
