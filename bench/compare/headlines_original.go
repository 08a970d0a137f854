package compare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/plan"
	"adshard/balance/strategy"
	"adshard/bench/trace"
)

// nightOwners is the number of owners in the nights of the strategy original; each has
// one item.
const nightOwners = 5000

// nights measures what the nightly plan of the strategy original moves after some
// owners have grown by a tenth. The thesis calls it a complete rebalancing.
func (h *headlines) nights() {
	for _, grown := range []int{1, 50, 500} {
		row := Headline{
			Technique: "original", Setting: fmt.Sprintf("a night after %d of %d owners grew by a tenth", grown, nightOwners),
			Figure: "part of all weight that a night moves", Paper: "a complete rebalancing",
		}
		h.each(row, false, func(seed int) (float64, error) { return nightMoves(h.ctx, grown, seed) })
	}
}

func nightMoves(ctx context.Context, grown, seed int) (float64, error) {
	t := owned(seed)
	s, err := strategy.Named("original")
	if err != nil {
		return 0, err
	}
	base, err := balance.NewModel(headlineSlaves())
	if err != nil {
		return 0, err
	}
	noon := time.Date(2014, 12, 1, 12, 0, 0, 0, time.UTC)
	m, p, err := plan.InitialOn(s, t.Order, base, t.Index(), nil, noon)
	if err != nil {
		return 0, err
	}
	for _, i := range rand.New(rand.NewPCG(uint64(seed), 2)).Perm(nightOwners)[:grown] {
		t.Weights[i] += t.Weights[i] / 10
	}
	in := balance.Input{
		Model: m, Memory: p.Memory, Items: t.Index(), Order: t.Order, Budget: balance.Budget{Share: headlineBudget}, Time: noon.Add(16 * time.Hour),
	}
	before := Place(t, m)
	v := settling{t: t, load: make([]float64, len(t.Keys)), s: s, rest: 1}
	if err := v.run(ctx, &in); err != nil {
		return 0, err
	}
	moved, all := 0.0, 0.0
	for i, n := range Place(t, in.Model).Owner {
		if all += float64(t.Weights[i]); n != before.Owner[i] {
			moved += float64(t.Weights[i])
		}
	}
	return moved / all, nil
}

// owned makes owners with one item each, whose weights follow Zipf's law.
func owned(seed int) *trace.Trace {
	t := &trace.Trace{Order: balance.ByOwner}
	weights := make(map[balance.Key]uint32)
	for i, rank := range rand.New(rand.NewPCG(uint64(seed), 1)).Perm(nightOwners) {
		k, _ := balance.ByOwner.Key(uint64(i+1), uint64(i+1)) // small ids fit
		weights[k] = uint32(1e5 * math.Pow(float64(rank+1), -0.8))
		t.Keys = append(t.Keys, k)
	}
	slices.SortFunc(t.Keys, cmp.Compare[balance.Key])
	for _, k := range t.Keys {
		t.Weights = append(t.Weights, weights[k])
	}
	return t
}
