package hotspots

import (
	"fmt"

	"adshard/bench/claims"
	"adshard/bench/measure"
)

// name returns the prefix of the names of a result's figures.
func (r *result) name(p *Plan) string {
	text := r.store
	if !r.delayed {
		text += ", no delay"
	}
	text += ", " + r.method
	switch {
	case r.shards > 0:
		return text + fmt.Sprintf(", %d shards, no retry: ", r.shards)
	case r.phase > 0:
		return text + fmt.Sprintf(", phase %d (%s/s): ", r.phase, measure.Number(p.Course[r.phase-1]))
	case r.retry:
		return text + ", retry: "
	}
	return text + ", no retry: "
}

func (p *Plan) report(r *measure.Report) {
	for _, list := range [][]result{p.paper, p.numbers, p.course} {
		for i := range list {
			x := &list[i]
			name := x.name(p)
			r.Add(name+"votes", "", float64(x.votes))
			r.Add(name+"failed", "%", 100*x.failures())
			r.Add(name+"conflicts", "% of puts", 100*x.conflictShare())
			r.Add(name+"puts", "a vote", x.perVote())
			r.Add(name+"mean time", "ms", mean(x.times))
			r.Add(name+"p99", "ms", p99(x.times))
			r.Add(name+"reading a total", "ms", mean(x.reads))
			r.Add(name+"parts at the end", "", float64(x.parts))
		}
	}
}

// of returns a result of the paper's experiment.
func (p *Plan) of(store, method string, delayed, retry bool) *result {
	for i := range p.paper {
		if r := &p.paper[i]; r.store == store && r.method == method && r.delayed == delayed && r.retry == retry {
			return r
		}
	}
	return nil
}

// claims compares what the paper says with the results.
func (p *Plan) claims() (out []claims.Claim) {
	for _, store := range p.stores() {
		out = append(out, p.figure6(store)...)
		if len(p.course) > 0 {
			out = append(out, p.courseClaims(store)...)
		}
	}
	return out
}

// figure6 judges the paper's experiment on one store.
func (p *Plan) figure6(store string) []claims.Claim {
	row, shards := p.of(store, "single row", true, false), p.of(store, "static", true, false)
	rowRetry, shardsRetry := p.of(store, "single row", true, true), p.of(store, "static", true, true)
	plainRow, plainShards := p.of(store, "single row", false, false), p.of(store, "static", false, false)
	where := "figure 6, " + store
	return []claims.Claim{{
		Where: where, Paper: "without retries 25 % of the votes fail on one row, 4 % in ten shards",
		Ours: fmt.Sprintf("%.1f %% and %.1f %% with %v to %v before each put; %.2f %% and %.2f %% without", 100*row.failures(), 100*shards.failures(),
			p.Least, p.Most, 100*plainRow.failures(), 100*plainShards.failures()),
		Holds:   row.failures() > 0.15 && row.failures() < 0.35 && shards.failures() < 0.06,
		Because: "the time between read and put, which the paper does not tell, is another one",
	}, {
		Where: where, Paper: "the time of a vote goes up slightly",
		Ours: fmt.Sprintf("%.1f ms on one row, %.1f ms in shards; %.2f and %.2f ms without the delay", mean(row.times), mean(shards.times),
			mean(plainRow.times), mean(plainShards.times)),
		Holds:   mean(shards.times) > mean(row.times) && mean(shards.times) < 1.2*mean(row.times),
		Because: "the check of the head and a longer value cost less than what the delay, and what else the machine does, vary by",
	}, {
		Where: where, Paper: "with retries none fails, and a vote takes 300 ms in place of 430 (0.70 times)",
		Ours: fmt.Sprintf("%.1f %% and %.1f %% fail; %.0f ms in place of %.0f (%.2f times)", 100*rowRetry.failures(), 100*shardsRetry.failures(),
			mean(shardsRetry.times), mean(rowRetry.times), mean(shardsRetry.times)/mean(rowRetry.times)),
		Holds:   rowRetry.failures() == 0 && shardsRetry.failures() == 0 && mean(shardsRetry.times) < 0.85*mean(rowRetry.times),
		Because: "a retry costs another delay here, and pauses of a few milliseconds",
	}}
}

// courseClaims judges whether adaptive counters are as good as the better of static and
// dynamic ones in each phase.
func (p *Plan) courseClaims(store string) (out []claims.Claim) {
	at := make(map[string][]*result)
	for i := range p.course {
		if r := &p.course[i]; r.store == store {
			at[r.method] = append(at[r.method], r)
		}
	}
	for i, rate := range p.Course {
		static, dynamic, adaptive, doubling := at["static"][i], at["dynamic"][i], at["adaptive"][i], at["adaptive, doubling"][i]
		better := min(mean(static.times), mean(dynamic.times))
		ratio, because := mean(adaptive.times)/better, "it takes a window with conflicts to learn that there are too few shards"
		if adaptive.perVote() <= 1.05*min(static.perVote(), dynamic.perVote()) {
			because = "the machine was slower meanwhile: it took no more puts"
		}
		out = append(out, claims.Claim{
			Where: fmt.Sprintf("phase %d, %s votes/s, %s", i+1, measure.Number(rate), store),
			Paper: "(ours) adaptive is within 10 % of the better of static and dynamic",
			Ours: fmt.Sprintf("%.1f ms adaptive, %.1f static, %.1f dynamic (%.2f times the better; %.2f, %.2f and %.2f puts a vote); %.1f doubling; %.0f on a single row, where %.0f %% failed",
				mean(adaptive.times), mean(static.times), mean(dynamic.times), ratio, adaptive.perVote(), static.perVote(), dynamic.perVote(),
				mean(doubling.times), mean(at["single row"][i].times), 100*at["single row"][i].failures()),
			Holds:   ratio <= 1.1,
			Because: because,
			Remark: fmt.Sprintf("a total takes %.2f ms to read adaptive (%d parts at the end), %.2f static (%d), %.2f dynamic (%d)", mean(adaptive.reads), adaptive.parts,
				mean(static.reads), static.parts, mean(dynamic.reads), dynamic.parts),
		})
	}
	return out
}
