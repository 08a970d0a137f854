package esdb

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Plan says which experiments are repeated.
type Plan struct {
	// Duration is the simulated time of each point of figures 10 to 13, after 10 s that are
	// not measured.
	Duration time.Duration
	// Each is the number of writes simulated as one.
	Each int
	Seed uint64

	results map[point]*Result
	sizes   map[Policy][]float64 // figure 13 d
	queries []tenantQueries      // figure 16
}

// point is a run of one of figures 10 to 13 or, if minutes is set, of figure 14.
type point struct {
	model   model
	policy  Policy
	theta   float64
	rate    float64
	tenants int
	minutes bool
}

// model says what is modelled besides nodes.
type model int

const (
	waiting    model = iota // generators wait for their clients
	unlimited               // queues have no limit
	shardLimit              // as waiting, but shards have a limit too
)

// models lists all models.
var models = [...]model{waiting, unlimited, shardLimit}

// String describes a model.
func (m model) String() string {
	return [...]string{"generators wait", "generators never wait", "generators wait, a shard does at most 7,400 writes/s"}[m]
}

// The values that vary. skewed is the exponent that the paper calls closest to its own
// load.
const (
	skewed       = 1.0
	offered      = 160_000 // figure 11
	room         = 120_000 // the rate for which balanced nodes have room; figure 14
	fewerTenants = 10_000
	shardRate    = 7400
	buffer       = 1000
	warmup       = 10 * time.Second
)

var (
	rates  = [...]float64{20_000, 40_000, 60_000, 80_000, 100_000, 120_000, 140_000, 160_000, 180_000, 200_000}
	thetas = [...]float64{0, 0.5, 1, 1.5, 2}
	// hotter lists the exponents of figure 14's hot groups, which the paper does not give.
	hotter = [...]float64{1, 1.5}
)

// The course of figure 14, six minutes: even tenants, then one group of hot tenants, then
// another.
const (
	sixMinutes = 6 * time.Minute
	firstHot   = time.Minute
	secondHot  = 210 * time.Second
)

// Validate returns an error if a plan is not valid.
func (p *Plan) Validate() error {
	switch {
	case p.Duration < time.Second || p.Duration > time.Hour:
		return fmt.Errorf("--duration %v: 1s to 1h", p.Duration)
	case p.Each < 1 || p.Each > 1000:
		return fmt.Errorf("--each %d: 1 to 1,000", p.Each)
	}
	return nil
}

// points returns all runs.
func points() (list []point) {
	for _, policy := range policies {
		for _, m := range models {
			for _, rate := range rates {
				list = append(list, point{m, policy, skewed, rate, manyTenants, false})
			}
			for _, theta := range thetas {
				list = append(list, point{m, policy, theta, offered, manyTenants, false})
			}
		}
		for _, theta := range thetas {
			list = append(list, point{unlimited, policy, theta, room, manyTenants, false})
		}
		list = append(list, point{waiting, policy, skewed, offered, fewerTenants, false})
		for _, theta := range hotter {
			list = append(list, point{waiting, policy, theta, room, manyTenants, true})
		}
	}
	return list
}

// config returns the configuration of a point's run.
func (p *Plan) config(at point) Config {
	c := Config{Policy: at.policy, Phases: []Phase{{Theta: at.theta}}, Tenants: at.tenants, Rate: at.rate, Duration: p.Duration + warmup,
		Warmup: warmup, Each: p.Each, Buffer: buffer, Storage: at.theta, Commit: usual(), Seed: p.Seed}
	switch at.model {
	case unlimited:
		c.Buffer = 0
	case shardLimit:
		c.ShardRate = shardRate
	}
	if at.minutes {
		c.Storage, c.Duration, c.Warmup = -1, sixMinutes, 0
		c.Phases = []Phase{{}, {From: firstHot, Theta: at.theta}, {From: secondHot, Theta: at.theta, Shift: at.tenants / 2}}
	}
	return c
}

// simulate runs all points, several at a time.
func (p *Plan) simulate(ctx context.Context) error {
	all := slices.Concat(thetas[:], hotter[:], []float64{skewed})
	of := map[int]skews{manyTenants: skewsOf(manyTenants, all...), fewerTenants: skewsOf(fewerTenants, all...)}
	p.results = make(map[point]*Result)
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, at := range points() {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			r := run(p.config(at), of[at.tenants], false)
			mu.Lock()
			defer mu.Unlock()
			p.results[at] = r
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	p.sizes = make(map[Policy][]float64)
	for _, policy := range policies {
		p.sizes[policy] = sizes(policy, of[manyTenants][skewed])
	}
	p.queries = queries(of[manyTenants][skewed])
	return nil
}

// at returns the result of a point of figures 10 to 13.
func (p *Plan) at(m model, policy Policy, theta, rate float64) *Result {
	return p.results[point{m, policy, theta, rate, manyTenants, false}]
}

// course returns the result of a run of figure 14.
func (p *Plan) course(policy Policy, theta float64) *Result {
	return p.results[point{waiting, policy, theta, room, manyTenants, true}]
}
