package balance

import (
	"slices"
	"time"
)

// Strategy is a balancing algorithm (thesis 6.3.10). The mapper calls it. It cannot
// break the model: the mapper checks its proposals.
type Strategy interface {
	// Name is the strategy's name in configurations and reports.
	Name() string
	// Initial plans all items known at the start. Input.Model is that of view
	// 0: the whole ring on the first shard.
	Initial(in Input) (Proposal, error)
	// Iterate is called at intervals while the system runs.
	Iterate(in Input) (Proposal, error)
}

// Input is what a strategy sees.
type Input struct {
	Model *Model
	Items Items
	Order Order
	// Limits are the capacities of shards; a shard without one has share 1 and no
	// limit of weight.
	Limits map[ShardID]Limit
	// Loads is the measured load; nil in the first plan.
	Loads Loads
	// SplitKey returns the last key of the left half of a slice, when it is cut where
	// each half has half of the load, as its slave estimates; 0: unknown. It may lie
	// outside of a slice that has been split since. ItemLoads heeds it. nil: none is known.
	SplitKey func(slice uint64) Key
	// Topics returns the topics that are known, by rising term, from samples of what
	// queries examined in the last minutes; nil: none are.
	Topics func() []Topic
	// Sampled is for how much time slaves have told samples for Topics, at least: little
	// after a start of the balancer.
	Sampled time.Duration
	// Few, unless "", says why the measured load is not reliable: it rests on too
	// few queries. A strategy that uses load leaves everything as it is then.
	Few string
	// NoQueries is set when there was load before and queries have stopped; all of
	// Loads is zero then.
	NoQueries bool
	// Budget is the most that the proposal may move.
	Budget Budget
	// May reports whether a slice may start to move to a shard, and if not, why: it
	// is moving, the shard is draining, lost or full, or the slice left it a moment
	// ago. The mapper refuses proposals with other moves; nil permits all.
	May func(slice uint64, to ShardID) (ok bool, why string)
	// Iteration counts the iterations of this balancer, for seeds.
	Iteration uint64
	// Time is the time of day. It may jump, also backwards: clocks are set, and
	// another machine's is another one. Zero in a plan that is made offline.
	Time time.Time
	// Memory is the Memory of the last proposal of this strategy that was accepted;
	// not to be modified. It is nil at first, after another strategy was in use,
	// and for stores that were built offline; a strategy must cope with that at any
	// time, and with what it wrote itself with other options.
	Memory []byte
}

// MaxMemory is the most bytes that a strategy may remember.
const MaxMemory = 64 << 10

// Refuge is implemented by strategies that decide where slices go whose shards drain
// or are lost. Those of other strategies go to the least loaded shards.
type Refuge interface {
	// Refuges returns a shard for each of the leaving slices, in their order; 0: the
	// least loaded one. The mapper also takes that one if a slice may not go where
	// the strategy wants it.
	Refuges(in Input, leaving []Slice) []ShardID
}

// Loads is the load as measured, in weighted cost a second.
type Loads interface {
	// Slice returns a slice's load; after a split or switch the expected load,
	// until it is measured again.
	Slice(id uint64) float64
	// Hot visits the items of measured load with keys lo to hi, both inclusive, by
	// ascending key, until visit returns false. The rest of a slice's load is
	// spread over its other items by weight.
	Hot(lo, hi Key, visit func(k Key, load float64) bool)
	// Measured reports whether any load was measured.
	Measured() bool
}

// Budget is the most that one proposal may move: a share of all items' number
// and weight, 0 to 1; 0: no limit.
type Budget struct{ Share float64 }

// Limit is the capacity of a shard.
type Limit struct {
	// Share is the shard's relative strength; 0 counts as 1.
	Share uint32
	// Weight is the most that a shard's items may weigh in total; 0: no limit.
	Weight uint64
}

// Proposal is what a strategy proposes.
type Proposal struct {
	Ops     []Op
	Reasons []Reason
	// Expected is how evenly the load will be spread; in the first plan, and when
	// none is measured, the items' weights.
	Expected Evenness
	// Memory is what the strategy wants to know in its next iteration, at most
	// MaxMemory bytes; it becomes durable together with Ops, so that it fits the
	// model also after a restart. Even if nothing else changes, a change of it costs a save of the model. A
	// strategy in shadow has a memory of its own, as if its proposals were carried
	// out.
	Memory []byte
}

// Reason explains an operation, or why something is left as it is.
type Reason struct {
	// Op is the index of the operation; -1: something was left as it is.
	Op int
	// Slice is the slice that was left as it is; 0: no single one.
	Slice uint64
	Text  string
}

// Topic is a term with the items that queries for it examine, and what each costs a
// second: where most of them lie, such queries have a slow slave.
type Topic struct {
	Term  uint64
	Items []TopicItem // by rising key
}

// TopicItem is an item with what it costs under a term.
type TopicItem struct {
	Key  Key
	Load float64
}

// Evenness describes how evenly something is spread over the shards, each divided
// by its share.
type Evenness struct {
	// Max and Mean are per share; Shard is the one with the most.
	Max, Mean float64
	Shard     ShardID
}

// Ratio returns max/mean, or 1 when there is nothing to spread.
func (e Evenness) Ratio() float64 {
	if e.Mean == 0 {
		return 1
	}
	return e.Max / e.Mean
}

// Strength returns the shard's strength.
func (l Limit) Strength() float64 { return float64(max(1, l.Share)) }

// Measured reports whether any load was measured.
func (in Input) Measured() bool { return in.Loads != nil && in.Loads.Measured() }

// LimitsOf returns the limits of a model's shards: those of their slaves. Slaves of one
// shard share its queries, and each has all of its items.
func LimitsOf(m *Model, limits map[string]Limit) map[ShardID]Limit {
	out := make(map[ShardID]Limit, len(limits))
	if len(limits) == 0 {
		return out
	}
	single := !slices.ContainsFunc(m.Shards(), func(sh Shard) bool { return len(m.Set(sh.ID)) > 1 })
	for _, sh := range m.Shards() {
		var sum Limit
		given := false
		for _, s := range m.Set(sh.ID) {
			l, ok := limits[s.Name]
			given = given || ok
			sum.Share += uint32(l.Strength())
			if l.Weight > 0 && (sum.Weight == 0 || l.Weight < sum.Weight) {
				sum.Weight = l.Weight
			}
		}
		if given || !single {
			out[sh.ID] = sum
		}
	}
	return out
}
