package compare

import (
	"math"
	"slices"
	"testing"
)

// TestHeadlines: with two seeds, the worst value is no better than the mean, and no strategy
// that does not split slices is better than the best placement of them.
func TestHeadlines(t *testing.T) {
	list, err := Headlines(t.Context(), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits := map[string]bool{"cassandra": true, "srinivasan": true}
	seen := map[string]int{}
	const optimum, plain = "optimum over slices ÷ max/mean", "max/mean of consistent-random ÷ its own"
	for _, h := range list {
		seen[h.Figure]++
		worse := h.Worst - h.Ours
		if h.Figure == optimum || h.Figure == plain { // more is better
			worse = -worse
		}
		switch {
		case h.Figure == "max/mean of keys" && (h.Ours < 1-1e-9 || h.Technique == "consistent-fixed" && h.Ours > 1.0001),
			h.Figure == "part of all that moves" && (h.Ours < 0.05 || h.Ours > 0.15),
			(h.Figure == "max/mean at the end" || h.Figure == "max/mean by replicas") && h.Ours < 1-1e-9,
			h.Figure == optimum && (h.Worst <= 0 || !splits[h.Technique] && h.Ours > 1+1e-9),
			worse < 0:
			t.Errorf("%+v", h)
		}
	}
	if len(list) != headlineCount || len(seen) != 10 {
		t.Errorf("%d headlines of %v", len(list), seen)
	}
	wantVerdicts(t, list)
}

// wantVerdicts checks what docs/experiments/techniques.md says about the papers' claims.
func wantVerdicts(t *testing.T, list []Headline) {
	t.Helper()
	ours := func(technique, setting, figure string) float64 {
		t.Helper()
		i := slices.IndexFunc(list, func(h Headline) bool {
			return h.Technique == technique && h.Setting == setting && h.Figure == figure
		})
		if i < 0 {
			t.Fatalf("no %s of %s, %s", figure, technique, setting)
		}
		return list[i].Ours
	}
	for _, space := range []struct{ all, fewer string }{{"100", "10"}, {"320", "40"}, {"1000", "120"}} {
		const keys = "max/mean of keys"
		eight := map[string]string{"100": "800", "320": "2560", "1000": "8000"}[space.all]
		random := ours("consistent-random", space.all+" tokens", keys)
		asTokens := ours("consistent-equal", space.all+" tokens, "+eight+" ranges: space is tokens", keys)
		asRanges := ours("consistent-equal", space.fewer+" tokens, "+space.all+" ranges: space is ranges", keys)
		fixed := ours("consistent-fixed", space.all+" ranges", keys)
		if fixed > random || math.Abs(asTokens-random) > 0.1 || asRanges < random+0.1 {
			t.Errorf("a space of %s: random tokens %.2f, equal ranges %.2f and %.2f, ranges dealt out %.2f", space.all, random, asTokens, asRanges, fixed)
		}
	}
	const optimum = "optimum over slices ÷ max/mean"
	for setting, pool := range map[string][2]float64{"Zipf 0.8, delta 0.1": {0.8, 0.95}, "Zipf 0.8, delta 0.02": {0.95, 1}} {
		one, best, plain := ours("rao-one", setting, optimum), ours("rao-pool", setting, optimum), ours("consistent-random", "Zipf 0.8", optimum)
		if one < 0.8 || one < plain || best < pool[0] || best > pool[1] {
			t.Errorf("%s: rao-one %.3f, rao-pool %.3f of the optimum, consistent-random %.3f", setting, one, best, plain)
		}
	}
	if times := ours("autoplacer", "Zipf 0.8, 16 a round", "max/mean of consistent-random ÷ its own"); times < 1.1 || times > 2 {
		t.Errorf("autoplacer: %.2f times as even", times)
	}
	wantSlicer(t, ours)
}

// wantSlicer: Slicer as published is more even than the load-aware kinds, and moves more than
// Rao's pool; weighted-move is more even than they are only under the wider goal, and moves
// more than the pool under both; the fast profile is as even as any other and moves less; and
// a node with more replicas is used.
func wantSlicer(t *testing.T, ours func(technique, setting, figure string) float64) {
	t.Helper()
	for _, zipf := range []string{"Zipf 0.8", "Zipf 1.0"} {
		for _, above := range []string{"0.1", "0.02"} {
			end := func(name string) (ratio, moved float64) {
				setting := zipf + ", goal 1 + " + above
				return ours(name, setting, "max/mean at the end"), ours(name, setting, "items moved ÷ all")
			}
			plain, moved := end("weighted-move")
			fast, little := end("weighted-move-fast")
			pool, least := end("rao-pool")
			along, more := end("cassandra")
			published, churn := ours("slicer", zipf, "max/mean at the end"), ours("slicer", zipf, "items moved ÷ all")
			if published > min(pool, along, ours("srinivasan", zipf, "max/mean at the end")) || churn < least || churn > ours("srinivasan", zipf, "items moved ÷ all") {
				t.Errorf("%s: slicer %.3f, %.4f moved", zipf, published, churn)
			}
			if above == "0.1" && plain > min(pool, along) || moved < least || fast > min(pool, along)+1e-3 || little > min(least, more) {
				t.Errorf("%s, 1 + %s: weighted-move %.3f, %.4f moved, fast %.3f, %.4f, rao-pool %.3f, %.4f, cassandra %.3f, %.4f",
					zipf, above, plain, moved, fast, little, pool, least, along, more)
			}
		}
	}
	for _, name := range []string{"weighted-move", "weighted-move-fast"} {
		const setting, figure = "a hot item, one node of three replicas, replication ", "max/mean by replicas"
		if without, with := ours(name, setting+"0", figure), ours(name, setting+"1", figure); with > 1.1 || without < with-0.01 {
			t.Errorf("%s: %.2f without regard to replicas, %.2f with it", name, without, with)
		}
	}
}
