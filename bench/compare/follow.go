package compare

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"adshard/balance"
	"adshard/bench/cluster"
	"adshard/bench/trace"
	"adshard/bench/workload"
)

// judge judges where the groups lie under the mix of a time, and caches the result until
// either changes. It also sums up the least that had to move.
type judge struct {
	t       *trace.Trace
	costs   CostModel
	begins  []time.Duration
	queries [][]float64 // by mix
	loads   [][]float64 // by mix, of each item
	place   Placement
	view    uint64

	mix   int
	fresh bool // found is still valid for mix and place
	found Judgement
	must  float64 // least weight that had to move, summed over all mixes so far
}

func newJudge(t *trace.Trace, w *workload.Workload, o Options) *judge {
	j := &judge{t: t, costs: o.Costs, mix: -1}
	for i := range w.Phases() {
		q := w.Weights(i)
		j.begins = append(j.begins, w.Begins(i, o.Duration))
		j.queries = append(j.queries, q)
		j.loads = append(j.loads, t.Load(q, o.Costs.weights()))
	}
	return j
}

// placed sets a new map of slices.
func (j *judge) placed(list []cluster.Slice, names []string, view uint64) error {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b cluster.Slice) int { return cmp.Compare(a.Lo, b.Lo) })
	p := Placement{Slaves: len(names), Owner: make([]uint16, len(j.t.Keys))}
	at := 0
	for i, k := range j.t.Keys {
		for at < len(list) && balance.Key(list[at].Hi) < k {
			at++
		}
		if at == len(list) || balance.Key(list[at].Lo) > k {
			return fmt.Errorf("no slice of view %d covers the key %x", view, uint64(k))
		}
		n := slices.Index(names, list[at].Slave)
		if n < 0 {
			return fmt.Errorf("slice %d lies on %q, which was not started here", list[at].ID, list[at].Slave)
		}
		p.Owner[i] = uint16(n)
	}
	j.set(p, view)
	return nil
}

func (j *judge) set(p Placement, view uint64) {
	j.fresh = j.fresh && slices.Equal(p.Owner, j.place.Owner)
	j.place, j.view = p, view
}

// at judges the placement under the mix of a time.
func (j *judge) at(at time.Duration) Judgement {
	mix := 0
	for mix+1 < len(j.begins) && at >= j.begins[mix+1] {
		mix++
	}
	if mix != j.mix {
		j.mix, j.fresh = mix, false
		j.must += leastMove(j.t, j.loads[mix], j.place)
	}
	if !j.fresh {
		j.found, j.fresh = Judge(j.t, j.costs, j.queries[mix], j.place), true
	}
	return j.found
}

// least adds to a run the least that had to move, and how many times that much moved.
func (j *judge) least(r *Run, weight float64) {
	all := 0.0
	for _, v := range j.t.Weights {
		all += float64(v)
	}
	r.Add("least that had to move", "% of all", 100*j.must/max(all, 1))
	if j.must > 0 {
		r.Add("data moved ÷ the least", "", weight/j.must)
	}
}

// leastMove returns the least weight of items that must leave the slaves that have more
// than goalRatio times the mean load (or than the bound, where that is higher). From each
// slave it takes the items with the most load for their weight, and only a part of the last
// item.
func leastMove(t *trace.Trace, load []float64, p Placement) float64 {
	sums := make([]float64, p.Slaves)
	total := 0.0
	for i, v := range load {
		sums[p.Owner[i]] += v
		total += v
	}
	goal := total / float64(p.Slaves) * max(goalRatio, goalBound*itemBound(load, p.Slaves))
	var must float64
	for s, v := range sums {
		if v <= goal {
			continue
		}
		var own []int
		for i := range load {
			if int(p.Owner[i]) == s && load[i] > 0 {
				own = append(own, i)
			}
		}
		sort.Slice(own, func(a, b int) bool {
			x, y := own[a], own[b]
			return load[x]*float64(t.Weights[y]) > load[y]*float64(t.Weights[x])
		})
		for _, i := range own {
			over := v - goal
			if over <= 0 {
				break
			}
			must += float64(t.Weights[i]) * min(1, over/load[i])
			v -= load[i]
		}
	}
	return must
}

// thrash tracks which slave serves which keys. It counts moves, and moves back to a slave
// that the keys had left shortly before.
type thrash struct {
	within time.Duration
	owner  []cluster.Slice // by rising key
	left   []departure
	count  int
	weight float64
}

// departure is a range of keys that a slave gave away.
type departure struct {
	lo, hi cluster.Key
	slave  string
	at     time.Duration
}

func newThrash(interval time.Duration) thrash { return thrash{within: 10 * interval} }

// add adds the map of slices at a time.
func (h *thrash) add(list []cluster.Slice, at time.Duration) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b cluster.Slice) int { return cmp.Compare(a.Lo, b.Lo) })
	old := h.owner
	h.owner = list
	if old == nil {
		return
	}
	var left []departure
	for _, s := range list {
		i := sort.Search(len(old), func(i int) bool { return old[i].Hi >= s.Lo })
		if i == len(old) || old[i].Slave == s.Slave {
			continue
		}
		h.weight += float64(s.Weight)
		back := slices.ContainsFunc(h.left, func(d departure) bool {
			return d.slave == s.Slave && at-d.at < h.within && d.lo <= s.Hi && s.Lo <= d.hi
		})
		if back {
			h.count++
		}
		left = append(left, departure{s.Lo, s.Hi, old[i].Slave, at})
	}
	h.left = append(h.left, left...)
}
