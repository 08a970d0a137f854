package compare

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"adshard/balance"
	"adshard/balance/cluster"
	balanceload "adshard/balance/load"
	"adshard/balance/plan"
	"adshard/balance/strategy"
	"adshard/bench/trace"
)

// Headline is a paper's claim about a technique beside the figure measured here.
type Headline struct {
	// Technique is a strategy; Setting says how it is set up.
	Technique, Setting string
	// Figure says what is measured, Ours is the mean over seeds, Worst the worst seed.
	Figure      string
	Ours, Worst float64
	// Paper is what the paper, or its formula, says.
	Paper string
}

// The sizes of the headlines.
const (
	headlineShards = 10
	headlineItems  = 20_000
	// HeadlineSeeds is the number of seeds over which a figure is averaged.
	HeadlineSeeds = 20
	// headlineRest is the number of iterations without a proposal after which a strategy that
	// draws shards at random counts as resting: often it draws none that matter.
	headlineRest = 20
	// headlineCount is how many headlines there are.
	headlineCount = 97
	// headlineBudget is the share of all items that may move in an iteration.
	headlineBudget = cluster.DefaultBudget
)

// Headlines measures what the papers claim of placing techniques on synthetic keys, in the
// order by hash: how even equal space makes the three kinds of consistent hashing, what
// moves when a shard joins or leaves, how close to the optimum the load-aware kinds come,
// what Autoplacer's rounds are worth without locality, what a nightly plan moves, and
// whether Slicer is more even than load-aware kinds and moves less.
func Headlines(ctx context.Context, seeds int, progress func(done float64)) (list []Headline, err error) {
	h := &headlines{ctx: ctx, seeds: seeds, progress: progress}
	h.evenness()
	h.churn()
	h.loadAware()
	h.autoplacer()
	h.nights()
	h.slicer()
	return h.list, h.err
}

// headlines collects headlines, until the first error.
type headlines struct {
	ctx      context.Context
	progress func(float64)
	seeds    int
	steps    int
	list     []Headline
	err      error
}

// each adds a headline with the mean and the worst value of a figure over seeds. The largest
// value is the worst, or the smallest if least is set.
func (h *headlines) each(row Headline, least bool, figure func(seed int) (float64, error)) {
	sum := 0.0
	for seed := 1; seed <= h.seeds && h.err == nil; seed++ {
		if h.err = h.ctx.Err(); h.err != nil {
			return
		}
		v, err := figure(seed)
		h.err = err
		if sum += v; seed == 1 || (v > row.Worst) != least {
			row.Worst = v
		}
	}
	row.Ours = sum / float64(h.seeds)
	h.list = append(h.list, row)
	if h.steps++; h.progress != nil {
		h.progress(float64(h.steps) / headlineCount)
	}
}

// spread makes n items of equal weight.
func spread(n int) *trace.Trace {
	t := &trace.Trace{Order: balance.ByHash}
	for i := range n {
		k, _ := balance.ByHash.Key(1, uint64(i+1)) // in the order by hash, every id fits
		t.Keys = append(t.Keys, k)
	}
	slices.Sort(t.Keys)
	t.Weights = slices.Repeat([]uint32{1}, n)
	return t
}

// planned returns a strategy and its input after its first plan for some items.
func planned(t *trace.Trace, name string, options map[string]string, seed int) (balance.Strategy, balance.Input, error) {
	given := map[string]string{"seed": strconv.Itoa(seed)}
	for k, v := range options {
		given[k] = v
	}
	in := balance.Input{Items: &balance.Index{}, Order: balance.ByHash, Budget: balance.Budget{Share: headlineBudget}}
	if t != nil {
		in.Items = t.Index()
	}
	s, err := strategy.Named(name, given)
	if err != nil {
		return nil, in, err
	}
	m, p, err := plan.Initial(s, balance.ByHash, headlineSlaves(), in.Items, nil)
	in.Model, in.Memory = m, p.Memory
	return s, in, err
}

func headlineSlaves() []balance.Shard {
	shards := make([]balance.Shard, headlineShards)
	for i := range shards {
		shards[i].Name = fmt.Sprintf("slave-%d", i)
	}
	return shards
}

// tokens returns the options for a given number of tokens per shard.
func tokens(n int) map[string]string {
	return map[string]string{"nodes": "1000", "factor": strconv.FormatFloat((float64(n)-0.5)/math.Log(1000), 'g', -1, 64)}
}

// evenness compares how evenly the three kinds of consistent hashing spread keys over shards
// of equal space: the keys of the fullest shard over the mean.
func (h *headlines) evenness() {
	ratio := func(name string, options map[string]string) func(int) (float64, error) {
		return func(seed int) (float64, error) {
			_, in, err := planned(nil, name, options, seed)
			if err != nil {
				return 0, err
			}
			widths := make(map[balance.ShardID]float64)
			for _, s := range in.Model.Slices() {
				widths[s.Shard] += float64(s.Hi-s.Lo) + 1
			}
			most := 0.0
			for _, w := range widths {
				most = max(most, w)
			}
			return most * headlineShards / math.Exp2(64), nil
		}
	}
	with := func(n, ranges int) map[string]string {
		out := tokens(n)
		out["ranges"] = strconv.Itoa(ranges)
		return out
	}
	const figure = "max/mean of keys"
	for _, each := range []int{10, 32, 100} {
		all := each * headlineShards
		h.each(Headline{Technique: "consistent-random", Setting: fmt.Sprintf("%d tokens", all), Figure: figure, Paper: "second"}, false, ratio("consistent-random", tokens(each)))
		h.each(Headline{Technique: "consistent-equal", Setting: fmt.Sprintf("%d tokens, %d ranges: space is tokens", all, 8*all), Figure: figure, Paper: "last, significantly worse"}, false,
			ratio("consistent-equal", with(each, 8*all)))
		h.each(Headline{Technique: "consistent-equal", Setting: fmt.Sprintf("%d tokens, %d ranges: space is ranges", all/8/headlineShards*headlineShards, all), Figure: figure, Paper: "last, significantly worse"}, false,
			ratio("consistent-equal", with(max(1, all/8/headlineShards), all)))
		h.each(Headline{Technique: "consistent-fixed", Setting: fmt.Sprintf("%d ranges", all), Figure: figure, Paper: "first"}, false,
			ratio("consistent-fixed", map[string]string{"ranges": strconv.Itoa(all)}))
	}
}

// churn measures what moves until rest when a shard joins and when one leaves.
func (h *headlines) churn() {
	t := spread(headlineItems)
	change := func(name string, edit func(*balance.Edit) error) func(int) (float64, error) {
		return func(seed int) (float64, error) {
			s, in, err := planned(t, name, nil, seed)
			if err != nil {
				return 0, err
			}
			e := in.Model.Edit()
			if err := edit(e); err != nil {
				return 0, err
			}
			if in.Model, err = e.Model(); err != nil {
				return 0, err
			}
			moved := 0
			v := settling{t: t, load: make([]float64, len(t.Keys)), s: s, rest: rest, seen: func(before, after Placement) {
				for i, n := range after.Owner {
					if n != before.Owner[i] {
						moved++
					}
				}
			}}
			err = v.run(h.ctx, &in)
			return float64(moved) / headlineItems, err
		}
	}
	join := func(e *balance.Edit) error { _, err := e.Join("late", balance.Site{}); return err }
	leave := func(e *balance.Edit) error { return e.SetState(1, balance.Draining) }
	for _, name := range []string{"consistent-random", "consistent-equal", "consistent-fixed", "rendezvous"} {
		h.each(Headline{Technique: name, Setting: "a join", Figure: "part of all that moves", Paper: fmt.Sprintf("%.4f", 1.0/(headlineShards+1))}, false, change(name, join))
		h.each(Headline{Technique: name, Setting: "a leave", Figure: "part of all that moves", Paper: fmt.Sprintf("%.4f", 1.0/headlineShards)}, false, change(name, leave))
	}
}

// loadAware compares where load-aware kinds end on Zipf loads with the least max/mean that
// any placement of their initial slices can have.
func (h *headlines) loadAware() {
	t := spread(headlineItems)
	for _, exponent := range []float64{0.8, 1.0} {
		for _, c := range []struct{ name, delta, paper string }{
			{"consistent-random", "", ""}, {"rao-one", "0.1", "within 80 %"}, {"rao-many", "0.1", "between"}, {"rao-pool", "0.1", "95 %"},
			{"rao-one", "0.02", "within 80 %"}, {"rao-many", "0.02", "between"}, {"rao-pool", "0.02", "95 %"},
			{"cassandra", "", ""}, {"srinivasan", "", "20 % faster than plain"},
		} {
			options := map[string]string{}
			setting := fmt.Sprintf("Zipf %.1f", exponent)
			if c.delta != "" {
				options["delta"] = c.delta
				setting += ", delta " + c.delta
			}
			figure := "optimum over slices ÷ max/mean"
			h.each(Headline{Technique: c.name, Setting: setting, Figure: figure, Paper: c.paper}, true, func(seed int) (float64, error) {
				s, in, err := planned(t, c.name, options, seed)
				if err != nil {
					return 0, err
				}
				load := zipfLoad(len(t.Keys), exponent, seed)
				loads := newLoads(t, load, in.Model)
				var slices []float64
				for _, v := range in.Model.Slices() {
					slices = append(slices, loads.Slice(v.ID))
				}
				best := itemBound(slices, headlineShards)
				v := settling{t: t, load: load, s: s, rest: rest}
				if c.name == "rao-one" || c.name == "rao-many" {
					v.rest = headlineRest
				}
				if err := v.run(h.ctx, &in); err != nil {
					return 0, err
				}
				in.Loads = newLoads(t, load, in.Model)
				return best / balanceload.Evenness(in).Ratio(), nil
			})
		}
	}
}

// zipfLoad returns loads of items by Zipf's law, in random order.
func zipfLoad(items int, exponent float64, seed int) []float64 {
	load := make([]float64, items)
	for i, rank := range rand.New(rand.NewPCG(uint64(seed), 1)).Perm(items) {
		load[i] = math.Pow(float64(rank+1), -exponent)
	}
	return load
}

// WriteHeadlines writes headlines for a terminal.
func WriteHeadlines(w io.Writer, list []Headline) error {
	rows := [][]string{{"technique", "setting", "figure", "mean", "worst", "paper"}}
	for _, v := range list {
		rows = append(rows, []string{v.Technique, v.Setting, v.Figure, fmt.Sprintf("%.4f", v.Ours), fmt.Sprintf("%.4f", v.Worst), v.Paper})
	}
	return writeRows(w, rows)
}
