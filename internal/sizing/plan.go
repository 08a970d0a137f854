package sizing

import (
	"cmp"
	"slices"

	"adshard/fault"
)

// Plan is the cheapest grid, and what cheaper grids lack.
type Plan struct {
	Best Grid `json:"grid"`
	// Cheaper has, for each number of shards, the largest grid with fewer machines than Best. It lists at most
	// MostCheaper of them, those with the most machines first.
	Cheaper []Grid `json:"cheaper"`
}

// Cheapest returns the grid with the fewest machines that meets the need. Of several it returns the one with the
// fewest shards, since a query makes a call for each shard. If there is none, it returns fault.NotFound with the
// reason.
func (f *Figures) Cheapest(n Need) (*Plan, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	best := Grid{Machines: MaxMachines + 1}
	for shards := 1; 2*shards < best.Machines; shards++ {
		if g, ok := f.fewest(n, shards, (best.Machines-1)/shards); ok {
			best = g
		}
	}
	if best.Shards == 0 {
		return nil, f.none(n)
	}
	return &Plan{Best: best, Cheaper: f.cheaper(n, best.Machines)}, nil
}

// MostCheaper is the most cheaper grids in a plan.
const MostCheaper = 16

// cheaper returns the largest grids with fewer machines.
func (f *Figures) cheaper(n Need, machines int) []Grid {
	var list []Grid
	for shards := 1; shards < machines; shards++ {
		replicas := min(MaxReplicas, (machines-1)/shards)
		list = append(list, Grid{Shards: shards, Replicas: replicas, Machines: shards * replicas})
	}
	slices.SortStableFunc(list, func(a, b Grid) int { return cmp.Compare(b.Machines, a.Machines) })
	list = list[:min(MostCheaper, len(list))]
	for i, g := range list {
		list[i] = f.Grid(n, g.Shards, g.Replicas)
	}
	return list
}

// fewest returns the grid with that many shards and the fewest replicas, at most `most`, that meets the need. If a
// number of replicas meets it, every larger number does, too.
func (f *Figures) fewest(n Need, shards, most int) (Grid, bool) {
	most = min(most, MaxReplicas)
	if f.load(n, shards, most).Limit != Enough || f.Grid(n, shards, most).Limit != Enough {
		return Grid{}, false
	}
	low, high := 1, most // one replica never suffices
	for high-low > 1 {
		if middle := (low + high) / 2; f.Grid(n, shards, middle).Limit == Enough {
			high = middle
		} else {
			low = middle
		}
	}
	return f.Grid(n, shards, high), true
}

// none returns an error that says why no grid meets the need.
func (f *Figures) none(n Need) error {
	if f.load(n, MaxMachines/2, 2).Limit == OfMemory {
		return fault.Newf(fault.NotFound, "", "%d machines have not enough memory: give each more than %.1f GiB (--memory)", MaxMachines, float64(n.Memory)/(1<<30))
	}
	enough, best := false, 0.0
	for shards := 1; shards <= MaxMachines/2; shards *= 2 {
		g := f.load(n, shards, min(MaxReplicas, MaxMachines/shards))
		if g.Limit != Enough {
			continue
		}
		enough = true
		if t := f.p99(n, &g, 1); best == 0 || t < best {
			best = t
		}
	}
	if !enough {
		return fault.Newf(fault.NotFound, "", "no grid of up to %d replicas and %d machines answers so many queries: give machines more cores (--cores) or memory (--memory), or divide the queries among several clusters (--qps)", MaxReplicas, MaxMachines)
	}
	return fault.Newf(fault.NotFound, "", "no grid answers 99 of 100 queries so soon; the best one takes %.1f ms: allow more (--p99)", best/1000)
}
