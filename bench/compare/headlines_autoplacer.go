package compare

import (
	"context"
	"fmt"
	"strconv"

	"adshard/balance"
	balanceload "adshard/balance/load"
	"adshard/bench/trace"
)

// autoplaced is the state in which Autoplacer comes to rest.
type autoplaced struct {
	plain, ratio float64 // max/mean before and after
	relocated    int     // items that are not where consistent hashing puts them
	bytes        int     // the growth of the model
}

// autoplacer measures what Autoplacer's rounds are worth by load only. The paper's gain
// over consistent hashing is throughput from locality, which does not exist in a cluster
// where every query asks all shards. The size of its arrays that remember what has moved
// is compared with that of a Bloom filter, without their classifier.
func (h *headlines) autoplacer() {
	t := spread(headlineItems)
	for _, exponent := range []float64{0.8, 1.0} {
		for _, hottest := range []int{16, 64} {
			ends := make(map[int]autoplaced)
			of := func(figure func(autoplaced) float64) func(int) (float64, error) {
				return func(seed int) (float64, error) {
					end, known := ends[seed]
					if !known {
						var err error
						if end, err = autoplace(h.ctx, t, exponent, hottest, seed); err != nil {
							return 0, err
						}
						ends[seed] = end
					}
					return figure(end), nil
				}
			}
			row := func(figure, paper string) Headline {
				return Headline{Technique: "autoplacer", Setting: fmt.Sprintf("Zipf %.1f, %d a round", exponent, hottest), Figure: figure, Paper: paper}
			}
			h.each(row("max/mean", ""), false, of(func(a autoplaced) float64 { return a.ratio }))
			h.each(row("max/mean of consistent-random ÷ its own", "6, of throughput by locality"), true, of(func(a autoplaced) float64 { return a.plain / a.ratio }))
			h.each(row("bytes a relocated item", "1.2: a Bloom filter that errs in 1 %"), false, of(func(a autoplaced) float64 { return float64(a.bytes) / float64(a.relocated) }))
		}
	}
}

func autoplace(ctx context.Context, t *trace.Trace, exponent float64, hottest, seed int) (autoplaced, error) {
	s, in, err := planned(t, "autoplacer", map[string]string{"hottest": strconv.Itoa(hottest)}, seed)
	if err != nil {
		return autoplaced{}, err
	}
	load := zipfLoad(len(t.Keys), exponent, seed)
	bytes := func() int { return len(balance.State{Model: in.Model}.Encode()) }
	ratio := func() float64 {
		in.Loads = newLoads(t, load, in.Model)
		return balanceload.Evenness(in).Ratio()
	}
	before, size, plain := Place(t, in.Model), bytes(), ratio()
	v := settling{t: t, load: load, s: s, rest: rest}
	if err := v.run(ctx, &in); err != nil {
		return autoplaced{}, err
	}
	out := autoplaced{plain: plain, ratio: ratio(), bytes: bytes() - size}
	for i, n := range Place(t, in.Model).Owner {
		if n != before.Owner[i] {
			out.relocated++
		}
	}
	return out, nil
}
