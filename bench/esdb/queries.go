package esdb

import (
	"math"
	"slices"

	"adshard/bench/skew"
)

// sizes returns the share of all records in each shard (figure 13 d).
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

// stationary returns the number of shards over which a tenant with a constant share is
// spread.
func stationary(policy Policy, part float64) int {
	switch policy {
	case Double:
		return doubleSpread
	case Dynamic:
		return offset(part, shards)
	}
	return 1
}

// The cost of a query in figure 16, which the paper does not give. Each subquery costs
// 1, plus rowsCost for each row of the tenant in the shard. Each query costs
// coordination, which any node may do. A coordination of 2.35 subqueries gives the
// paper's 63 % for small tenants; without it they would have 100 %.
const (
	rows         = 40_000_000
	coordination = 2.35
	rowsCost     = 1.0 / 100_000
	queried      = 2000
)

// tenantQueries says how many queries of one tenant the cluster answers, as a multiple
// of the subqueries that a node can do. Both lists are by policy: fixed if all
// subqueries cost the same, byRows if they cost more where the tenant has more rows.
type tenantQueries struct {
	rank          int
	subqueries    [len(policies)]int
	fixed, byRows [len(policies)]float64
}

// queries returns how many queries of each of the top tenants the cluster answers.
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

// answered returns how many queries the busiest node has time for, if subqueries go to a
// shard and to its replica in turn.
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

// descending returns a sorted copy of a list, the largest first.
func descending(list []float64) []float64 {
	out := slices.Sorted(slices.Values(list))
	slices.Reverse(out)
	return out
}

// ratio returns largest ÷ smallest.
func ratio(list []float64) float64 {
	least, most := math.Inf(1), 0.0
	for _, v := range list {
		least, most = min(least, v), max(most, v)
	}
	return most / least
}

// deviation returns the standard deviation.
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
