package esdb

import (
	"math"
	"slices"

	"adshard/bench/skew"
)

// sizes returns the part of all records that each shard has (figure 13 d).
func sizes(policy Policy, of *skew.Distribution) []float64 {
	out := make([]float64, shards)
	for k := range of.Len() {
		spread := stationary(policy, of.Of(k))
		for i := range spread {
			out[(first(Tenant(k), shards)+i)%shards] += of.Of(k) / float64(spread)
		}
	}
	return out
}

// stationary returns over how many shards a tenant is spread whose part does not change.
func stationary(policy Policy, part float64) int {
	switch policy {
	case Double:
		return doubleSpread
	case Dynamic:
		return offset(part, shards)
	}
	return 1
}

// The cost of a query in figure 16, of which the paper tells nothing: one for each
// subquery, and in addition rowsCost for each row of the tenant in the shard; and
// coordination, which any node does, for each query. A coordination of 2.35 subqueries
// makes the paper's 63 % for small tenants; without any it would be 100 %.
const (
	rows         = 40_000_000
	coordination = 2.35
	rowsCost     = 1.0 / 100_000
	queried      = 2000
)

// tenantQueries is how many queries of one tenant the cluster answers, as a multiple of
// what a node does in subqueries: by policy, with subqueries that cost the same, and
// with those that cost more where the tenant has more rows.
type tenantQueries struct {
	rank          int
	subqueries    [len(policies)]int
	fixed, byRows [len(policies)]float64
}

// queries returns what the cluster answers of the queries of each of the top tenants.
func queries(of *skew.Distribution) (out []tenantQueries) {
	for k := range queried {
		t := tenantQueries{rank: k + 1}
		for i, policy := range policies {
			t.subqueries[i] = stationary(policy, of.Of(k))
			here := of.Of(k) * rows / float64(t.subqueries[i])
			t.fixed[i] = answered(Tenant(k), t.subqueries[i], 1)
			t.byRows[i] = answered(Tenant(k), t.subqueries[i], 1+here*rowsCost)
		}
		out = append(out, t)
	}
	return out
}

// answered returns how many queries the busiest node has time for, when a subquery goes
// to a shard and to its replica in turn.
func answered(k Tenant, subqueries int, cost float64) float64 {
	var work [nodes]float64
	for n := range work {
		work[n] = coordination / nodes
	}
	for i := range subqueries {
		p := (first(k, shards) + i) % shards
		work[p%nodes] += cost / 2
		work[(p+1)%nodes] += cost / 2
	}
	most := 0.0
	for _, w := range work {
		most = max(most, w)
	}
	return 1 / most
}

// descending returns a list, the largest first.
func descending(list []float64) []float64 {
	out := slices.Sorted(slices.Values(list))
	slices.Reverse(out)
	return out
}

// ratio is largest ÷ smallest.
func ratio(list []float64) float64 {
	least, most := math.Inf(1), 0.0
	for _, v := range list {
		least, most = min(least, v), max(most, v)
	}
	return most / least
}

// deviation is the standard deviation.
func deviation(list []float64) float64 {
	mean, sum := mean(list), 0.0
	for _, v := range list {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(list)))
}

func mean(list []float64) (sum float64) {
	for _, v := range list {
		sum += v / float64(len(list))
	}
	return sum
}
