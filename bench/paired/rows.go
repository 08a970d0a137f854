package paired

import (
	"slices"
	"strconv"
	"strings"

	"adshard/bench/measure"
)

// addRows adds the rows of a setup.
func (r *run) addRows(at int, conditions []Changes, all turns) {
	setup, matches := &r.plan.Setups[at], uint64(0)
	for _, f := range r.right[at] {
		matches += f.Matches
	}
	for c, changes := range conditions {
		for i, e := range r.entrants {
			rounds := all[i][c]
			row := Row{
				Name: e.Name(), Setup: setup.Name + r.plan.conditions(changes), Keywords: r.plan.Set.Len(),
				BytesPerKeyword: e.bytes(r.plan.Set.Len()), BuildSeconds: e.seconds, Matches: matches,
				Queries: len(setup.Queries), Ratios: r.ratios(all, i, c), Peer: e.peer,
			}
			row.figures(rounds)
			if changes.any() {
				row.Changes = changed(all[i][0], rounds)
			}
			r.result.Rows = append(r.result.Rows, row)
		}
	}
}

// conditions returns the conditions of a run as the end of a setup's name.
func (p *Plan) conditions(c Changes) string {
	var b strings.Builder
	if p.Threads > 1 {
		b.WriteString(", " + strconv.Itoa(p.Threads) + " threads")
	}
	if p.CacheShare > 0 {
		b.WriteString(", cache " + measure.Number(100*p.CacheShare) + " %")
	}
	if c.Share > 0 {
		b.WriteString(", " + measure.Number(100*c.Share) + " % changes")
	}
	if c.Rate > 0 {
		b.WriteString(", " + measure.Number(c.Rate) + " changes/s")
	}
	return b.String()
}

func (e *entrant) bytes(keywords int) Bytes {
	n := float64(keywords)
	return Bytes{float64(e.size.Disk) / n, float64(e.size.Matching) / n, float64(e.size.Memory) / n}
}

// figures sets a row's figures from its rounds.
func (row *Row) figures(rounds []*measured) {
	perSecond := spread(rounds, func(m *measured) float64 { return m.perSecond })
	p50 := spread(rounds, func(m *measured) float64 { return m.quantile(0.5) })
	p99 := spread(rounds, func(m *measured) float64 { return m.quantile(0.99) })
	row.QueriesPerSecond, row.P50, row.P99 = perSecond.Median, p50.Median, p99.Median
	row.Least = Extreme{perSecond.Least, p50.Least, p99.Least}
	row.Most = Extreme{perSecond.Most, p50.Most, p99.Most}
	row.Asked = spread(rounds, func(m *measured) float64 { return float64(m.asked) }).Median
}

func (m *measured) quantile(q float64) float64 { return m.latencies.Quantile(q).Seconds() * 1e6 }

// spread returns the median of a value over rounds, with its extremes.
func spread(rounds []*measured, value func(*measured) float64) Spread {
	values := make([]float64, len(rounds))
	for i, m := range rounds {
		values[i] = value(m)
	}
	return spreadOf(values)
}

func spreadOf(values []float64) Spread {
	least, median, most := measure.Rounds(values)
	return Spread{Median: median, Least: least, Most: most}
}

// ratios compares entrant i with the layouts with which all are compared.
func (r *run) ratios(all turns, i, condition int) map[string]Spread {
	out := make(map[string]Spread)
	for j, other := range r.entrants {
		if i == j || !other.peer && !slices.Contains([]string{Floor, Baseline, Mapped}, other.Name()) {
			continue
		}
		var values []float64
		for round := range all[i][condition] {
			if v, ok := timesAsFast(all[i][condition][round], all[j][condition][round]); ok {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out[other.Name()] = spreadOf(values)
		}
	}
	return out
}

// timesAsFast returns the time of the common queries of two turns in the other
// turn over their time in this one; ok is false if they have no query in
// common.
func timesAsFast(this, other *measured) (float64, bool) {
	mine, theirs := 0.0, 0.0
	for q := range this.mean {
		if this.mean[q] > 0 && other.mean[q] > 0 {
			mine += this.mean[q]
			theirs += other.mean[q]
		}
	}
	return theirs / max(mine, 1e-12), mine > 0
}

// changed compares rounds with changes with rounds at rest.
func changed(rest, meanwhile []*measured) *Changed {
	toRest := func(q float64) Spread {
		values := make([]float64, len(rest))
		for i := range rest {
			values[i] = meanwhile[i].quantile(q) / max(rest[i].quantile(q), 1e-3)
		}
		return spreadOf(values)
	}
	return &Changed{
		PerSecond: spread(meanwhile, func(m *measured) float64 { return float64(m.changed) / m.seconds }),
		Share:     spread(meanwhile, func(m *measured) float64 { return float64(m.changed) / float64(m.changed+m.asked) }),
		P50ToRest: toRest(0.5), P99ToRest: toRest(0.99),
	}
}
