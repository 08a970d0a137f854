package balance

import (
	"slices"
	"time"
)

// Strategy is a balancing algorithm (thesis 6.3.10). The mapper calls it. It cannot
// break the model, since the mapper checks its proposals.
type Strategy interface {
	// Name returns the strategy's name in configurations and reports.
	Name() string
	// Initial makes the first plan, for all items known at the start. Input.Model is the
	// model of view 0: the whole ring on the first shard.
	Initial(in Input) (Proposal, error)
	// Iterate is called at intervals while the system runs, and proposes changes of the
	// model.
	Iterate(in Input) (Proposal, error)
}

// Input is the input of a strategy.
type Input struct {
	Model *Model
	Items Items
	Order Order
	// Limits has the capacities of shards. A shard that is not in it has share 1 and no
	// limit of weight.
	Limits map[ShardID]Limit
	// Loads is the measured load. It is nil in the first plan.
	Loads Loads
	// SplitKey returns the last key of the left half of a slice, so cut that each half
	// has half of the load, as the slice's slave estimates; or 0 if unknown. The key may
	// lie outside a slice that has been split since. ItemLoads uses it. SplitKey is nil
	// if no split key is known.
	SplitKey func(slice uint64) Key
	// Topics returns the known topics, in ascending order of terms, from samples of what
	// queries examined in the last minutes. It is nil if no topics are known.
	Topics func() []Topic
	// Sampled is a time for which slaves have reported samples for Topics. It is short
	// soon after a start of the balancer.
	Sampled time.Duration
	// Few, unless it is "", says why the measured load is not reliable: it comes from
	// too few queries. A strategy that uses load then leaves everything in place.
	Few string
	// NoQueries is set if there was load before and queries have stopped. All of Loads
	// is zero then.
	NoQueries bool
	// Budget limits how much the proposal may move.
	Budget Budget
	// May reports whether a slice may start to move to a shard. If not, why is the
	// reason: the slice is moving, the shard is draining, lost or full, or the slice
	// left the shard a moment ago. The mapper rejects proposals with moves that May does
	// not allow. If May is nil, all moves are allowed.
	May func(slice uint64, to ShardID) (ok bool, why string)
	// Iteration is the number of iterations of this balancer so far. It is for seeds.
	Iteration uint64
	// Time is the time of day. It may jump, also backwards, since clocks are set,
	// and another machine has another clock. It is zero in a plan that is made
	// offline.
	Time time.Time
	// Memory is the Memory of this strategy's last accepted proposal. It must not be
	// modified. It is nil at first, after another strategy was in use, and for stores
	// that were built offline. A strategy must be able to deal with nil at any time, and
	// with a memory that it wrote with other options.
	Memory []byte
}

// MaxMemory is the greatest length of a strategy's memory, in bytes.
const MaxMemory = 64 << 10

// Refuge is implemented by strategies that decide where slices go when their shard
// drains or is lost. With other strategies, such slices go to the least loaded shards.
type Refuge interface {
	// Refuges returns a shard for each of the leaving slices, in their order, or 0 for
	// the least loaded shard. The mapper also uses the least loaded shard if a slice may
	// not move to the shard returned.
	Refuges(in Input, leaving []Slice) []ShardID
}

// Loads is the measured load, in weighted cost per second.
type Loads interface {
	// Slice returns a slice's load. After a split or a switch it is the expected load,
	// until the load is measured again.
	Slice(id uint64) float64
	// Hot visits the items whose load is measured with keys from lo to hi, both
	// inclusive, in ascending order of keys, until visit returns false. The rest of a
	// slice's load is spread over its other items by weight.
	Hot(lo, hi Key, visit func(k Key, load float64) bool)
	// Measured reports whether any load was measured.
	Measured() bool
}

// Budget limits how much one proposal may move: at most this share, from 0 to 1, of the
// number and of the weight of all items. 0 means no limit.
type Budget struct{ Share float64 }

// Limit is the capacity of a shard.
type Limit struct {
	// Share is the shard's relative strength; 0 means 1.
	Share uint32
	// Weight is the greatest total weight of the shard's items; 0 means no limit.
	Weight uint64
}

// Proposal is what a strategy proposes.
type Proposal struct {
	Ops     []Op
	Reasons []Reason
	// Expected says how evenly the load will be spread. In the first plan, and if no
	// load is measured, it is about the items' weights instead.
	Expected Evenness
	// Memory is what the strategy wants to have in its next iteration, at most MaxMemory
	// bytes. It becomes durable together with Ops, so that it fits the model even after
	// a restart. If it changes, the model must be saved even if nothing else has
	// changed. A strategy in shadow has a memory of its own, as if its proposals were
	// carried out.
	Memory []byte
}

// Reason explains an operation, or why something is left as it is.
type Reason struct {
	// Op is the index of the operation, or -1 if something is left as it is.
	Op int
	// Slice is the slice that is left as it is, or 0 if the reason is not about a single
	// slice.
	Slice uint64
	Text  string
}

// Topic is a term with the items that queries for it examine, and the cost of each per
// second. If most of the items are on one slave, that slave is slow for such queries.
type Topic struct {
	Term  uint64
	Items []TopicItem // in ascending order of keys
}

// TopicItem is an item with its cost under a term.
type TopicItem struct {
	Key  Key
	Load float64
}

// Evenness says how evenly something is spread over the shards. The amount on each shard
// is divided by the shard's share.
type Evenness struct {
	// Max and Mean are amounts per unit of share; Shard is the shard with the greatest
	// amount.
	Max, Mean float64
	Shard     ShardID
}

// Ratio returns Max/Mean, or 1 if there is nothing to spread.
func (e Evenness) Ratio() float64 {
	if e.Mean == 0 {
		return 1
	}
	return e.Max / e.Mean
}

// Strength returns the shard's relative strength.
func (l Limit) Strength() float64 { return float64(max(1, l.Share)) }

// Measured reports whether any load was measured.
func (in Input) Measured() bool { return in.Loads != nil && in.Loads.Measured() }

// LimitsOf returns the limits of a model's shards from the limits of slaves. The slaves
// of a shard share its queries, so their strengths are added up. Each of them has all
// items of the shard, so the smallest limit of weight applies.
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
