package plan

import (
	"fmt"
	"math"
	"sort"
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/fault"
)

// judge decides which changes of a model strategies and operators may make.
type judge struct {
	now     time.Duration
	share   float64 // share of all items that may be moving at once; 0 means no limit
	in      balance.Input
	sums    []load.SliceSum            // by index in in.Model.Slices
	at      map[uint64]int             // index of a slice in sums, by id
	weights map[balance.ShardID]uint64 // of the items that a shard has or will get
	resting map[balance.ShardID]restIndex
	ill     map[balance.ShardID]string // why a shard can take nothing
	items   int                        // number of all items
	weight  uint64
	// copiedItems and copiedWeight count the items that are being copied now.
	copiedItems  int
	copiedWeight uint64
	crowded      bool // slices that must leave their shards wait for the budget
}

// judgeNow returns a judge for the newest model.
func (p *Planner) judgeNow(now time.Duration) *judge {
	j := &judge{now: now, share: p.Config.Budget.Share, resting: p.rests.index(now), ill: make(map[balance.ShardID]string)}
	for _, sh := range p.Model.Shards() {
		if trouble, _ := p.Ailing(sh.ID, now); trouble != "" {
			j.ill[sh.ID] = "in trouble: " + trouble
		} else if !p.Up(sh.ID, now) {
			j.ill[sh.ID] = "lost"
		}
	}
	j.in = balance.Input{
		Model: p.Model, Items: p.Items, Order: p.Config.Order, Limits: p.Limits(p.Model),
		Iteration: p.iterations, Time: p.TimeOfDay(), May: j.may,
		Few: p.Loads.Few(p.Asked(now)),
	}
	p.addLoads(&j.in, now)
	j.sums = load.OfSlices(j.in)
	j.weights = make(map[balance.ShardID]uint64, len(p.Model.Shards()))
	j.at = make(map[uint64]int, len(j.sums))
	for i, s := range p.Model.Slices() {
		j.at[s.ID] = i
		j.weights[s.Shard] += j.sums[i].Weight
		j.items += j.sums[i].Items
		j.weight += j.sums[i].Weight
		if s.Move.Phase == balance.Copying {
			j.weights[s.Move.Other] += j.sums[i].Weight
			j.copiedItems += j.sums[i].Items
			j.copiedWeight += j.sums[i].Weight
		}
	}
	j.in.Budget = j.budget()
	return j
}

// addLoads adds the loads of the newest model to an input. If the cluster is idle, all
// of them are zero and NoQueries is set.
func (p *Planner) addLoads(in *balance.Input, now time.Duration) {
	if p.Loads.Idle(p.Asked(now)) {
		in.Loads, in.NoQueries = load.None{}, true
		return
	}
	in.Loads, in.SplitKey = p.Loads.At(now, p.Model, p.Items), p.Loads.SplitKey
	in.Topics, in.Sampled = p.Loads.HotTopics, p.Loads.Sampled()
}

// budget returns how much may still begin to move.
func (j *judge) budget() balance.Budget {
	if j.share <= 0 {
		return balance.Budget{}
	}
	under := max(float64(j.copiedItems)/float64(max(1, j.items)), float64(j.copiedWeight)/float64(max(1, j.weight)))
	return balance.Budget{Share: max(j.share-under, math.SmallestNonzeroFloat32)}
}

// fits reports whether this number of items, with this weight, may still begin to move.
func (j *judge) fits(items int, weight uint64) bool {
	share := j.in.Budget.Share * (1 + 1e-9)
	return share <= 0 || float64(items) <= share*float64(j.items) && float64(weight) <= share*float64(j.weight)
}

// may implements Input.May.
func (j *judge) may(slice uint64, to balance.ShardID) (bool, string) {
	i, ok := j.at[slice]
	if !ok {
		return false, fmt.Sprintf("there is no slice %d", slice)
	}
	s := j.in.Model.Slices()[i]
	why := j.refuses(s, to, j.sums[i].Weight)
	if why == "" {
		why = j.rests(s, to)
	}
	return why == "", why
}

// refuses returns why a slice cannot move to a shard at all, or "" if it can.
func (j *judge) refuses(s balance.Slice, to balance.ShardID, weight uint64) string {
	sh, ok := j.in.Model.Shard(to)
	limit := j.in.Limits[to].Weight
	switch {
	case s.Move.Phase != balance.NoMove:
		return fmt.Sprintf("it is on its way already (%s)", s.Move.Phase)
	case !ok:
		return fmt.Sprintf("there is no shard %d", to)
	case s.Shard == to:
		return "it is on shard " + sh.Name + " already"
	case sh.State != balance.Active:
		return fmt.Sprintf("shard %s is %s", sh.Name, sh.State)
	case j.ill[to] != "":
		return "shard " + sh.Name + " is " + j.ill[to]
	case limit > 0 && j.weights[to]+weight > limit:
		return fmt.Sprintf("shard %s may weigh %d at most, it has %d and the slice %d", sh.Name, limit, j.weights[to], weight)
	}
	return ""
}

// rests returns why a slice should stay away from a shard for now, or "" if it need
// not.
func (j *judge) rests(s balance.Slice, to balance.ShardID) string {
	return j.resting[to].why(j.now, balance.Interval{Lo: s.Lo, Hi: s.Hi}, j.load)
}

// load returns the load, or weight, of an interval. Slices that lie in it partly are
// divided by width.
func (j *judge) load(v balance.Interval) (sum float64) {
	all := j.in.Model.Slices()
	i := sort.Search(len(all), func(i int) bool { return all[i].Hi >= v.Lo })
	for ; i < len(all) && all[i].Lo <= v.Hi; i++ {
		s := all[i]
		lo, hi := max(s.Lo, v.Lo), min(s.Hi, v.Hi)
		sum += j.sums[i].Load * (float64(hi-lo) + 1) / (float64(s.Hi-s.Lo) + 1)
	}
	return sum
}

// weigh returns the sum of the items of a slice.
func (j *judge) weigh(s balance.Slice) (sum load.SliceSum) {
	if i, ok := j.at[s.ID]; ok && j.in.Model.Slices()[i].Lo == s.Lo && j.in.Model.Slices()[i].Hi == s.Hi {
		return j.sums[i]
	}
	j.in.Items.Ascend(s.Lo, s.Hi, func(_ balance.Key, w uint32) bool {
		sum.Items++
		sum.Weight += uint64(w)
		return true
	})
	return sum
}

// verdict is the result of checking a proposal.
type verdict struct {
	model  *balance.Model
	moves  int
	items  int
	weight uint64
}

// check applies a proposal to the judge's model. If one operation is impossible, the
// whole proposal is refused. Errors: fault.Invalid.
func (j *judge) check(p balance.Proposal) (verdict, error) {
	var v verdict
	e := j.in.Model.Edit()
	refuse := func(o balance.Op, why string) (verdict, error) {
		return verdict{}, fault.Newf(fault.Invalid, "balance: check proposal", "to %s is refused, and the whole proposal with it: %s", o, why)
	}
	added := make(map[balance.ShardID]uint64)
	for _, o := range p.Ops {
		switch o.Kind {
		case balance.OpSplit, balance.OpMerge:
		case balance.OpStart:
			s, ok := e.Slice(o.Slice)
			if !ok {
				return refuse(o, fmt.Sprintf("there is no slice %d", o.Slice))
			}
			sum := j.weigh(s)
			why := j.refuses(s, o.Shard, sum.Weight+added[o.Shard])
			if why == "" {
				why = j.rests(s, o.Shard)
			}
			if why != "" {
				return refuse(o, why)
			}
			added[o.Shard] += sum.Weight
			v.moves++
			v.items += sum.Items
			v.weight += sum.Weight
			if !j.fits(v.items, v.weight) {
				return refuse(o, fmt.Sprintf("%d items of weight %d exceed what may move at once: %.3g of %d items of weight %d",
					v.items, v.weight, j.in.Budget.Share, j.items, j.weight))
			}
		default:
			return refuse(o, "a strategy may only split, merge and start to move slices")
		}
		if err := e.Apply(o); err != nil {
			return refuse(o, "not possible: "+err.Error())
		}
	}
	model, err := e.Model()
	if err != nil {
		return verdict{}, err
	}
	v.model = model
	return v, nil
}
