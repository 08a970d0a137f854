package sizing

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"adshard/fault"
)

// TestCheapestIsTheOracles compares Cheapest with a search of every grid, for random figures and needs.
func TestCheapestIsTheOracles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found, none, cases := 0, 0, 25
	if testing.Short() {
		cases = 15
	}
	for range cases {
		f, n := randomFigures(r), randomNeed(r)
		p, err := f.Cheapest(n)
		want, ok := enumerate(f, n, 12)
		switch {
		case err != nil && !fault.Is(err, fault.NotFound):
			t.Fatal(err)
		case err != nil:
			if none++; ok {
				t.Fatalf("%+v: no grid; %+v does it", n, want)
			}
		case ok:
			if found++; p.Best != want {
				t.Fatalf("%+v: %+v, want %+v", n, p.Best, want)
			}
		case p.Best.Machines <= 12:
			t.Fatalf("%+v: %+v, which lacks something", n, p.Best)
		}
		if p != nil {
			checkCheaper(t, n, p)
		}
	}
	if found < 2 || none < 1 {
		t.Errorf("%d grids found, %d times none: the needs are not varied", found, none)
	}
}

// enumerate tries every grid with at most the given number of machines.
func enumerate(f *Figures, n Need, machines int) (Grid, bool) {
	for m := 1; m <= machines; m++ {
		for shards := 1; shards <= m; shards++ {
			if m%shards != 0 {
				continue
			}
			if g := f.Grid(n, shards, m/shards); g.Limit == Enough {
				return g, true
			}
		}
	}
	return Grid{}, false
}

// checkCheaper checks that each grid of p.Cheaper has fewer machines and does not meet the need.
func checkCheaper(t *testing.T, n Need, p *Plan) {
	t.Helper()
	seen := make(map[int]bool)
	for _, g := range p.Cheaper {
		if g.Machines >= p.Best.Machines || g.Limit == Enough || seen[g.Shards] {
			t.Fatalf("%+v: %+v beside the best, %+v", n, g, p.Best)
		}
		seen[g.Shards] = true
	}
	if len(seen) != min(MostCheaper, p.Best.Machines-1) {
		t.Fatalf("%+v: %d cheaper grids beside %+v", n, len(seen), p.Best)
	}
}

func randomFigures(r *rand.Rand) *Figures {
	spread := func(median float64) Times {
		q := [4]float64{median}
		for i := 1; i < 4; i++ {
			q[i] = q[i-1] * (1 + 2*r.Float64())
		}
		return times(median*(1+r.Float64()), q)
	}
	return &Figures{
		Query: 20 + 100*r.Float64(), MasterCall: 1 + 20*r.Float64(), SlaveCall: 5 + 30*r.Float64(), Disk: 50, Usable: 0.5 + r.Float64()/2, Variability: 0.5 + 20*r.Float64(),
		Searches: []Searches{{100_000, spread(10)}, {1_000_000, spread(20)}, {10_000_000, spread(50)}},
		Memory:   []Memory{{30, spread(500)}, {60, spread(100)}, {120, spread(50)}, {250, spread(40)}},
		Alone:    Searches{400_000, spread(300)},
	}
}

func randomNeed(r *rand.Rand) Need {
	return Need{
		Keywords: uint64(math.Pow(10, 4+5*r.Float64())), QPS: math.Pow(10, 5*r.Float64()), Cores: 1 + r.IntN(16),
		Memory: 1 << (28 + r.IntN(10)), P99: time.Duration(float64(time.Millisecond) * math.Pow(10, 2*r.Float64())),
	}
}

// TestMoreIsNeverCheaper checks that a larger need never takes fewer machines, and better
// machines never more.
func TestMoreIsNeverCheaper(t *testing.T) {
	f, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	base := Need{Keywords: 20_000_000, QPS: 3000, Memory: 16 << 30, Cores: 4, P99: 30 * time.Millisecond}
	machines := func(change func(*Need)) int {
		n := base
		change(&n)
		p, err := f.Cheapest(n)
		if err != nil {
			t.Fatalf("%+v: %v", n, err)
		}
		return p.Best.Machines
	}
	is := machines(func(*Need) {})
	for name, more := range map[string]func(*Need){
		"keywords": func(n *Need) { n.Keywords *= 10 }, "queries": func(n *Need) { n.QPS *= 10 },
		"less memory": func(n *Need) { n.Memory /= 8 }, "fewer cores": func(n *Need) { n.Cores = 2 },
		"less time": func(n *Need) { n.P99 /= 2 },
	} {
		if got := machines(more); got < is {
			t.Errorf("%s: %d machines, %d before", name, got, is)
		}
	}
	if got := machines(func(n *Need) { n.Memory *= 4; n.Cores *= 4; n.P99 *= 4 }); got > is {
		t.Errorf("better machines: %d, %d before", got, is)
	}
}

// TestLimits checks the cause of each kind of limit.
func TestLimits(t *testing.T) {
	f := randomFigures(rand.New(rand.NewPCG(3, 4)))
	base := Need{Keywords: 1_000_000, QPS: 100, Memory: 16 << 30, Cores: 4, P99: time.Second}
	for _, c := range []struct {
		change   func(*Need)
		replicas int
		want     Limit
	}{
		{func(*Need) {}, 2, Enough},
		{func(*Need) {}, 1, OfReplicas},
		{func(n *Need) { n.Keywords = 10_000_000_000 }, 2, OfMemory},
		{func(n *Need) { n.QPS = 1_000_000 }, 2, OfCores},
		{func(n *Need) { n.P99 = 100 * time.Microsecond }, 2, OfTime},
	} {
		n := base
		c.change(&n)
		if g := f.Grid(n, 1, c.replicas); g.Limit != c.want {
			t.Errorf("%+v: %+v, want to lack %q", n, g, c.want)
		}
	}
}

// TestMost checks that a grid reaches the highest permitted load at the most queries that it says it can answer.
func TestMost(t *testing.T) {
	f := randomFigures(rand.New(rand.NewPCG(5, 6)))
	n := Need{Keywords: 1_000_000, QPS: 100, Memory: 16 << 30, Cores: 4, P99: time.Hour}
	n.QPS = f.Grid(n, 2, 3).Most
	if g := f.Grid(n, 2, 3); math.Abs(g.BusyDown-fullest) > 1e-9 {
		t.Errorf("at %g queries/s: %+v", n.QPS, g)
	}
	n.QPS *= 1.01
	if g := f.Grid(n, 2, 3); g.Limit != OfCores {
		t.Errorf("at %g queries/s: %+v", n.QPS, g)
	}
}
