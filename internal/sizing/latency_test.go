package sizing

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWaitIsTheQueues compares the waits with those of a simulated queue: jobs arrive at random at a given number of
// processors and take exponentially distributed times.
func TestWaitIsTheQueues(t *testing.T) {
	for _, c := range []struct {
		cores int
		load  float64
	}{{1, 0.5}, {1, 0.8}, {2, 0.7}, {4, 0.75}, {16, 0.7}} {
		const job = 100.0
		waits := simulate(rand.New(rand.NewPCG(7, 8)), c.cores, c.load, job, 400_000)
		w := Queue{Cores: c.cores, Busy: c.load * float64(c.cores), Job: job}.wait(1)
		for _, share := range []float64{0.2, 0.05, 0.01} {
			got, want := inverse(func(t float64) float64 { return w.share * math.Exp(-w.rate*t) }, share), waits[int(float64(len(waits))*(1-share))]
			if math.Abs(got-want) > 0.1*want+0.02*job {
				t.Errorf("%d processors, load %g: a share of %g waits longer than %.1f; simulated %.1f", c.cores, c.load, share, got, want)
			}
		}
	}
}

// simulate returns the sorted waits of a queue that is served in order.
func simulate(r *rand.Rand, cores int, load, job float64, n int) []float64 {
	free := make(times64, cores) // when each processor is free next
	waits := make([]float64, n)
	now := 0.0
	for i := range waits {
		now += r.ExpFloat64() * job / (load * float64(cores))
		starts := max(now, free[0])
		waits[i] = starts - now
		free[0] = starts + r.ExpFloat64()*job
		heap.Fix(&free, 0)
	}
	slices.Sort(waits)
	return waits
}

type times64 []float64

func (h times64) Len() int           { return len(h) }
func (h times64) Less(i, j int) bool { return h[i] < h[j] }
func (h times64) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *times64) Push(any)          {}
func (h *times64) Pop() any          { return nil }

// TestExceededIsTheModels compares latencies with samples drawn from the model.
func TestExceededIsTheModels(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 12 {
		f := randomFigures(r)
		shards, keywords := 1+r.IntN(8), 50_000+2_000_000*r.Float64()
		q := Queue{Cores: 1 + r.IntN(8), Job: 40}
		q.Busy = float64(q.Cores) * 0.9 * r.Float64()
		samples := f.samples(r, shards, keywords, q, 100_000)
		for _, share := range []float64{0.5, 0.1, 0.01} {
			got, want := f.Exceeded(share, shards, keywords, 250, q), samples[int(float64(len(samples))*(1-share))]
			if math.Abs(got-want) > 0.05*want {
				t.Errorf("%d shards, %+v: a share of %g takes longer than %.1f; sampled %.1f", shards, q, share, got, want)
			}
		}
	}
}

// samples returns sorted latencies that are drawn by the model's definition.
func (f *Figures) samples(r *rand.Rand, shards int, keywords float64, q Queue, n int) []float64 {
	w := q.wait(f.Variability)
	wait := func() float64 {
		if r.Float64() >= w.share {
			return 0
		}
		return r.ExpFloat64() / w.rate
	}
	measured, now := f.Search(f.Alone.Keywords), f.Search(keywords)
	list := make([]float64, n)
	for i := range list {
		slowest := 0.0
		for range shards {
			u := 1 - r.Float64()
			call := f.Alone.exceeded(u) - measured.exceeded(u) + now.exceeded(u)
			slowest = max(slowest, max(call, now.exceeded(u))+wait())
		}
		list[i] = wait() + wait() + float64(shards-1)*f.MasterCall + slowest
	}
	slices.Sort(list)
	return list
}

// TestStrataAreWhole checks that the strata divide a distribution without a gap.
func TestStrataAreWhole(t *testing.T) {
	sum, last := 0.0, 1.0
	for _, s := range strata {
		if s.share <= 0 || s.exceeded >= last {
			t.Errorf("%+v after one that %g exceed", s, last)
		}
		sum, last = sum+s.share, s.exceeded
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the shares sum to %g", sum)
	}
}

// TestTooBusy checks that a machine that cannot keep up has an infinite latency.
func TestTooBusy(t *testing.T) {
	f := randomFigures(rand.New(rand.NewPCG(11, 12)))
	for _, busy := range []float64{2, 3} {
		if got := f.Exceeded(0.01, 1, 1000, 250, Queue{Cores: 2, Busy: busy, Job: 100}); !math.IsInf(got, 1) {
			t.Errorf("%g of 2 processors busy: %g", busy, got)
		}
	}
}
