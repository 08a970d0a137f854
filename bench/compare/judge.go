package compare

import (
	"cmp"
	"slices"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/bench/trace"
)

// CostModel converts the counts of a trace to microseconds. The defaults were fitted to one
// store on one core (docs/experiments.md).
type CostModel struct {
	// Query is the cost of each query at each slave, whatever it finds; Examined the cost of each
	// posting decided on; Matched the additional cost of each match.
	Query, Examined, Matched float64
}

// DefaultCosts returns the costs of one slave's store, without the network, as `adbench store` fits them.
func DefaultCosts() CostModel { return CostModel{Query: 6.6, Examined: 0.015, Matched: 0.013} }

// weights returns the costs that depend on items, without the fixed cost of a query.
func (m CostModel) weights() load.Weights {
	return load.Weights{Examined: m.Examined, Matched: m.Matched}
}

// Placement says on which slave each item of a trace lies, from 0.
type Placement struct {
	Slaves int
	Owner  []uint16
}

// Place returns where a model puts the items of a trace.
func Place(t *trace.Trace, m *balance.Model) Placement {
	p := Placement{Slaves: len(m.Shards()), Owner: make([]uint16, len(t.Keys))}
	number := make(map[balance.ShardID]uint16, p.Slaves)
	for i, sh := range m.Shards() {
		number[sh.ID] = uint16(i)
	}
	all, at := m.Slices(), 0
	for i, k := range t.Keys {
		for all[at].Hi < k {
			at++
		}
		p.Owner[i] = number[all[at].Shard]
	}
	return p
}

// Judgement says how good a placement is for a mix of queries. Times are in microseconds.
type Judgement struct {
	// MaxOverMean is the max/mean of the slaves' loads, Bound the least that any placement of
	// whole items can have.
	MaxOverMean float64 `json:"max_over_mean"`
	Bound       float64 `json:"bound"`
	// Expected is the mean work for items at a query's slowest slave over the mean of the queries'
	// bounds (total/slaves, or the most expensive item if that is more), so that each query counts
	// by its work.
	Expected float64 `json:"expected"`
	// Mean, P50 and P99 describe the time at a query's slowest slave, including the fixed cost of
	// a query; BoundMean is the mean of the queries' bounds. A quantile of the times cannot be
	// compared with a quantile of the bounds, which may be another query's: Ratios compare each
	// query with its own bound.
	Mean      float64 `json:"mean_us"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
	BoundMean float64 `json:"bound_mean_us"`
	// OneAtATime is queries per second if each begins after the previous one has ended. Saturated
	// is queries per second if all slaves are busy and the busiest one limits them.
	OneAtATime float64 `json:"one_at_a_time"`
	Saturated  float64 `json:"saturated"`
}

// weighed is a value with its weight.
type weighed struct{ value, weight float64 }

// Judge judges a placement for queries whose weights sum to 1.
func Judge(t *trace.Trace, m CostModel, queries []float64, p Placement) Judgement {
	var slowest, bounds []weighed
	load, one := make([]float64, p.Slaves), make([]float64, p.Slaves)
	w := m.weights()
	for q, share := range queries {
		if share == 0 {
			continue
		}
		clear(one)
		total, dearest := 0.0, 0.0
		t.Query(q, func(c trace.Cost) {
			cost := trace.Of(w, c)
			one[p.Owner[c.Item]] += cost
			total += cost
			dearest = max(dearest, cost)
		})
		for i, v := range one {
			load[i] += share * v
		}
		slowest = append(slowest, weighed{m.Query + slices.Max(one), share})
		bounds = append(bounds, weighed{m.Query + max(total/float64(p.Slaves), dearest), share})
	}
	j := Judgement{
		Mean: meanOf(slowest), P50: quantile(slowest, 0.5), P99: quantile(slowest, 0.99),
		BoundMean: meanOf(bounds),
	}
	j.Expected = ratio(j.Mean-m.Query, j.BoundMean-m.Query)
	busiest, sum := slices.Max(load), 0.0
	for _, v := range load {
		sum += v
	}
	j.MaxOverMean = ratio(busiest, sum/float64(p.Slaves))
	j.Bound = itemBound(t.Load(queries, w), p.Slaves)
	j.OneAtATime, j.Saturated = rate(j.Mean), rate(busiest+m.Query)
	return j
}

// rate returns how often per second something that takes the given microseconds can be done.
func rate(micros float64) float64 {
	if micros <= 0 {
		return 0
	}
	return 1e6 / micros
}

// itemBound returns the least max/mean of any placement of whole items on equal slaves: the
// largest item, the sum of the items of ranks n and n+1, and so on, each over the mean.
func itemBound(loads []float64, slaves int) float64 {
	sum := 0.0
	for _, v := range loads {
		sum += v
	}
	mean := sum / float64(slaves)
	if mean == 0 {
		return 1
	}
	sorted := slices.Clone(loads)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(b, a) })
	sums := make([]float64, len(sorted)+1)
	for i, v := range sorted {
		sums[i+1] = sums[i] + v
	}
	bound := mean
	for k := 0; k*slaves < len(sorted); k++ {
		// Some slave has k+1 of the k·slaves+1 largest items. They weigh at least as much as the last
		// k+1 of them.
		bound = max(bound, sums[k*slaves+1]-sums[k*slaves-k])
	}
	return bound / mean
}

func meanOf(list []weighed) float64 {
	sum, weight := 0.0, 0.0
	for _, v := range list {
		sum, weight = sum+v.value*v.weight, weight+v.weight
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// quantile returns a quantile of the list, which it sorts.
func quantile(list []weighed, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.SortFunc(list, func(a, b weighed) int { return cmp.Compare(a.value, b.value) })
	weight := 0.0
	for _, v := range list {
		weight += v.weight
	}
	at := 0.0
	for _, v := range list {
		if at += v.weight; at >= q*weight {
			return v.value
		}
	}
	return list[len(list)-1].value
}
