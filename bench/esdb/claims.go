package esdb

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"adshard/bench/claims"
	"adshard/bench/measure"
)

func whole(v float64) string { return measure.Number(math.Round(v)) }

// most returns the highest throughput of a policy over all rates of figure 10.
func (p *Plan) most(m model, policy Policy) (out float64) {
	for _, rate := range rates {
		out = max(out, p.at(m, policy, skewed, rate).Throughput)
	}
	return out
}

// over returns a quantity of figures 11 to 13 for each skew.
func (p *Plan) over(m model, policy Policy, rate float64, of func(*Result) float64) (out []float64) {
	for _, theta := range thetas {
		out = append(out, of(p.at(m, policy, theta, rate)))
	}
	return out
}

func throughput(r *Result) float64 { return r.Throughput }
func delay(r *Result) float64      { return r.Delay }

// claims compares what the paper says with the results.
func (p *Plan) claims() []claims.Claim {
	list := append(p.rising(), p.skewedWrites()...)
	list = append(list, p.distributions()...)
	return append(list, p.hotspots(), p.smallQueries(), p.largeQueries())
}

// rising judges figure 10.
func (p *Plan) rising() []claims.Claim {
	hashing, double, dynamic := p.most(waiting, Hashing), p.most(waiting, Double), p.most(waiting, Dynamic)
	fewer := p.results[point{waiting, Hashing, skewed, offered, fewerTenants, false}].Throughput
	limited := p.most(shardLimit, Hashing)
	steep := p.at(shardLimit, Double, thetas[len(thetas)-1], offered).Throughput
	slow, fast := p.at(unlimited, Hashing, skewed, room).Delay, p.at(unlimited, Dynamic, skewed, room).Delay
	early, late := p.rises(Hashing), min(p.rises(Double), p.rises(Dynamic))
	return []claims.Claim{{
		Where: "figure 10 a", Paper: "hashing stops at about 90,000 writes/s, both others at 140,000",
		Ours:  fmt.Sprintf("hashing at %s, double hashing at %s, dynamic at %s", whole(hashing), whole(double), whole(dynamic)),
		Holds: hashing > 85_000 && hashing < 95_000 && double > 135_000 && dynamic > 133_000,
		Because: fmt.Sprintf("how many tenants write is not told (with %s, hashing stops at %s), nor what else limits a hot shard: at most %s writes/s of a shard give %s, but then double hashing falls to %s at θ = 2, where figure 11 has it flat",
			whole(fewerTenants), whole(fewer), whole(shardRate), whole(limited), whole(steep)),
	}, {
		Where: "figure 10 b", Paper: "beyond its limit hashing's delay rises rapidly, the others' later",
		Ours: fmt.Sprintf("at %s writes/s, where generators never wait: hashing %.3g s after %v, dynamic %.1f ms; above ten times the least delay from %s writes/s on with hashing, from %s with the others",
			whole(room), slow, p.Duration, 1000*fast, whole(early), whole(late)),
		Holds:  slow > 10*fast && early < late,
		Remark: "that the others' rises more smoothly, too, is not judged: where generators never wait, any queue grows beyond the limit",
	}}
}

// rises returns the first rate of figure 10 at which the delay is more than ten times the
// least, if generators never wait, or +Inf if there is none.
func (p *Plan) rises(policy Policy) float64 {
	least := p.at(unlimited, policy, skewed, rates[0]).Delay
	for _, rate := range rates {
		if p.at(unlimited, policy, skewed, rate).Delay > 10*least {
			return rate
		}
	}
	return math.Inf(1)
}

// skewedWrites judges figure 11.
func (p *Plan) skewedWrites() []claims.Claim {
	hashing, double, dynamic := p.over(waiting, Hashing, offered, throughput), p.over(waiting, Double, offered, throughput), p.over(waiting, Dynamic, offered, throughput)
	slow, fast := p.over(unlimited, Hashing, room, delay), p.over(unlimited, Dynamic, room, delay)
	full, fullDouble := p.over(waiting, Dynamic, offered, delay), p.over(waiting, Double, offered, delay)
	last := len(thetas) - 1
	lower := 0
	for i := range thetas {
		if fullDouble[i] < full[i] {
			lower++
		}
	}
	return []claims.Claim{{
		Where: "figure 11 a", Paper: "with growing skew hashing falls, both others stay",
		Ours:  fmt.Sprintf("θ 0 to 2: hashing %s to %s, double hashing %s to %s, dynamic %s to %s", whole(hashing[0]), whole(hashing[last]), whole(double[0]), whole(double[last]), whole(dynamic[0]), whole(dynamic[last])),
		Holds: hashing[last] < 0.6*hashing[0] && ratio(double) < 1.1 && ratio(dynamic) < 1.1,
	}, {
		Where: "figure 11 b", Paper: "hashing's delay grows to more than 100 times that without skew",
		Ours: fmt.Sprintf("%s times at %s writes/s where generators never wait; %.1f times where they wait, at %s", whole(slow[last]/slow[0]),
			whole(room), p.over(waiting, Hashing, offered, delay)[last]/p.over(waiting, Hashing, offered, delay)[0], whole(offered)),
		Holds:  slow[last] > 100*slow[0],
		Remark: "it takes a rate that the others have room for, and queues without a limit; then it is a matter of how long the run is",
	}, {
		Where: "figure 11 b", Paper: "both others stay stable, at about 0.2 s, at 160,000 writes/s",
		Ours: fmt.Sprintf("dynamic %.2f to %.2f s, double hashing %.2f to %.2f s where generators wait; dynamic %.3f s at %s writes/s",
			slices.Min(full), slices.Max(full), slices.Min(fullDouble), slices.Max(fullDouble), slices.Max(fast), whole(room)),
		Holds: min(slices.Min(full), slices.Min(fullDouble)) > 0.15 && max(slices.Max(full), slices.Max(fullDouble)) < 0.25,
		Because: fmt.Sprintf("more is offered than the cluster does, so that a stable delay is the length of full queues, which is not told: %s writes in each client here, and %s under way to each node; it is stable, at another level",
			whole(buffer), whole(window)),
	}, {
		Where: "figure 11 b", Paper: "double hashing's delay is always below that of dynamic, even at θ = 0",
		Ours:    fmt.Sprintf("at %d of %d skews: %.3f and %.3f s at θ = 0, %.3f and %.3f s at θ = 2", lower, len(thetas), fullDouble[0], full[0], fullDouble[last], full[last]),
		Holds:   lower == len(thetas),
		Because: "where nodes are even more writes wait at all of them at a time, and below the limit both are the same",
	}}
}

// distributions judges figures 12 and 13.
func (p *Plan) distributions() []claims.Claim {
	spread := func(of func(*Result) []float64) (list [len(policies)][]float64, text string) {
		for i, policy := range policies {
			list[i] = p.over(waiting, policy, offered, func(r *Result) float64 { return deviation(of(r)) })
		}
		return list, fmt.Sprintf("hashing %s, double hashing %s, dynamic %s at θ = 1; %s, %s, %s at θ = 2", whole(list[Hashing][2]), whole(list[Double][2]), whole(list[Dynamic][2]),
			whole(list[Hashing][4]), whole(list[Double][4]), whole(list[Dynamic][4]))
	}
	byNode, nodesText := spread(func(r *Result) []float64 { return r.Nodes })
	byShard, shardsText := spread(func(r *Result) []float64 { return r.Shards })
	busy := p.at(waiting, Dynamic, skewed, offered).Busy
	hot := p.at(waiting, Hashing, skewed, offered).Busy
	sizes := [...]float64{ratio(p.sizes[Hashing]), ratio(p.sizes[Double]), ratio(p.sizes[Dynamic])}
	return []claims.Claim{{
		Where: "figure 12 a", Paper: "from θ = 1 on, nodes differ far more with hashing than with dynamic, least with double hashing", Ours: nodesText + " (standard deviation)",
		Holds: twice(byNode[Hashing][2:], byNode[Dynamic][2:]) && least(byNode[Double][2:], byNode[Dynamic][2:]),
	}, {
		Where: "figure 12 b", Paper: "dynamic makes shards more even too", Ours: shardsText + " (standard deviation)", Holds: twice(byShard[Hashing][2:], byShard[Dynamic][2:]),
		Remark: "at θ = 2 double hashing's shards are as uneven as hashing's: 8 shards are too few for the largest tenant",
	}, {
		Where: "figure 13 a", Paper: "with hashing two neighbouring nodes work at full capacity, the others do not",
		Ours: "nodes work " + parts(hot) + " of the time", Holds: twoNeighbours(hot, 0.98),
		Because: "the node after the one that does has room left: it executes the replicas of the first and no more of the hottest tenant",
	}, {
		Where: "figure 13 c", Paper: "with dynamic, nodes work about 85 % of the time", Ours: fmt.Sprintf("%.0f %% (%.0f to %.0f %%)", 100*mean(busy), 100*slices.Min(busy), 100*slices.Max(busy)),
		Holds: mean(busy) > 0.8 && mean(busy) < 0.9, Because: "nodes do nothing but execute writes here, and no other limit keeps them from that",
	}, {
		Where: "figure 13 d", Paper: "largest ÷ smallest shard: more than 100 with hashing, 13 with double hashing, 16 with dynamic",
		Ours: fmt.Sprintf("%.0f, %.0f, %.0f", sizes[Hashing], sizes[Double], sizes[Dynamic]), Holds: sizes[Hashing] > 100 && math.Abs(sizes[Double]-13) < 4 && math.Abs(sizes[Dynamic]-16) < 4,
		Remark: "it varies with the hash of the largest tenants",
	}}
}

// parts formats shares of the time as percentages.
func parts(list []float64) string {
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprintf("%.0f", 100*v))
	}
	return strings.Join(out, ", ") + " %"
}

// twice reports whether each value of a is more than twice that of b.
func twice(a, b []float64) bool {
	for i := range a {
		if a[i] <= 2*b[i] {
			return false
		}
	}
	return true
}

// least reports whether each value of a is below that of b.
func least(a, b []float64) bool {
	for i := range a {
		if a[i] >= b[i] {
			return false
		}
	}
	return true
}

// twoNeighbours reports whether exactly two nodes are at or above a limit, and the two are
// neighbours.
func twoNeighbours(busy []float64, limit float64) bool {
	count, pairs := 0, 0
	for i, v := range busy {
		if v < limit {
			continue
		}
		count++
		if busy[(i+1)%len(busy)] >= limit {
			pairs++
		}
	}
	return count == 2 && pairs == 1
}

// hotspots judges figure 14.
func (p *Plan) hotspots() claims.Claim {
	between := func(policy Policy, from, to int) float64 { return mean(p.course(policy, hotter[1]).Seconds[from:to]) }
	begin, again, end := int(firstHot.Seconds()), int(secondHot.Seconds()), int(sixMinutes.Seconds())
	return claims.Claim{
		Where: "figure 14", Paper: "hot tenants take hashing down for good; dynamic returns to 120,000 after each group; double hashing does not notice",
		Ours: fmt.Sprintf("θ = %.1f: hashing %s at the end; dynamic %s, then %s, then %s, then %s; double hashing %s", hotter[1], whole(between(Hashing, end-60, end)),
			whole(between(Dynamic, begin+1, begin+15)), whole(between(Dynamic, again-60, again)), whole(between(Dynamic, again+1, again+15)), whole(between(Dynamic, end-60, end)), whole(between(Double, begin, end))),
		Holds: between(Hashing, end-60, end) < 0.9*room && between(Dynamic, begin+1, begin+15) < 0.9*room && between(Dynamic, again+1, again+15) < 0.9*room &&
			between(Dynamic, end-60, end) > 0.98*room && between(Dynamic, again-60, again) > 0.98*room && between(Double, begin, end) > 0.98*room,
		Remark: "tenants are taken to be even before the first group, since hashing could not fall otherwise; how hot the groups are is not told",
	}
}

// smallQueries judges the small tenants of figure 16.
func (p *Plan) smallQueries() claims.Claim {
	small := p.queries[len(p.queries)-1]
	alone, same := 0, 0
	for _, q := range p.queries {
		if q.subqueries[Dynamic] == 1 {
			alone++
		}
		if q.fixed[Dynamic] == q.fixed[Hashing] {
			same++
		}
	}
	gain := small.fixed[Dynamic]/small.fixed[Double] - 1
	return claims.Claim{
		Where: "figure 16, small tenants", Paper: "dynamic as hashing, up to 63 % above double hashing",
		Ours:   fmt.Sprintf("%s of the %s tenants are in one shard, as with hashing, instead of in 8; %.0f %% more queries", whole(float64(alone)), whole(queried), 100*gain),
		Holds:  same == alone && alone > queried*9/10 && gain > 0.3 && gain < 1,
		Remark: fmt.Sprintf("the direction is simulated, the number is fitted: that a query costs %.2f subqueries of coordination besides is chosen so that 63 %% come out (without it, 100 %%)", coordination),
	}
}

func (p *Plan) largeQueries() claims.Claim {
	top := p.queries[0]
	return claims.Claim{
		Where: "figure 16, large tenants", Paper: "dynamic at least as good as hashing, since its shards are smaller and work in parallel",
		Ours: fmt.Sprintf("the largest tenant is in %d shards: %.1f times as many queries as with hashing where a subquery costs more with the tenant's rows in the shard, %.2f times where all cost the same",
			top.subqueries[Dynamic], top.byRows[Dynamic]/top.byRows[Hashing], top.fixed[Dynamic]/top.fixed[Hashing]),
		Holds:   min(top.byRows[Dynamic]/top.byRows[Hashing], top.fixed[Dynamic]/top.fixed[Hashing]) >= 1,
		Because: "it holds only if rows cost something in spite of LIMIT 100, which is not told; else each shard more is work more",
	}
}
