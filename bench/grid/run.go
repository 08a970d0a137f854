package grid

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"adshard/balance"
	"adshard/bench/cluster"
	"adshard/bench/measure"
	"adshard/bench/openloop"
)

// Plan says what is measured.
type Plan struct {
	// Program is the path of the program adshard, DB the database's URL, Dir an empty or
	// missing directory.
	Program, DB, Dir string
	Grids            []Grid
	// Targets are the requests to send.
	Targets []openloop.Target
	// Turns is how often every grid is measured, for Duration in each of three ways: one
	// request at a time, Closed requests at a time, and Rate per second at random times.
	Turns    int
	Duration time.Duration
	Closed   int
	Rate     float64
	// Patience bounds each first fill. Said is called with a description before each step.
	Patience time.Duration
	Said     func(string)
}

// running is a running cluster with its results.
type running struct {
	grid    Grid
	cluster *cluster.Cluster
	turns   map[string][]*turn
}

// turn is one run against one cluster; processor times are microseconds per answer.
type turn struct {
	*openloop.Outcome
	master, slaves, generator float64
}

// The ways of asking.
const (
	alone  = "alone"
	closed = "closed"
	open   = "open"
)

var ways = []string{alone, closed, open}

// Run starts a cluster of each grid, queries them in turns, and adds the results to the
// report, under the names that Name returns.
func (p *Plan) Run(ctx context.Context, report *measure.Report) (err error) {
	var all []*running
	defer func() {
		for _, r := range all {
			err = errors.Join(err, r.cluster.Stop())
		}
	}()
	for _, g := range p.Grids {
		p.Said("start of " + g.String())
		c, err := p.start(ctx, g)
		if err != nil {
			return fmt.Errorf("%v: %w", g, err)
		}
		all = append(all, &running{grid: g, cluster: c, turns: make(map[string][]*turn)})
		if err := c.Replicated(ctx, g.Replicas); err != nil {
			return err
		}
	}
	for _, r := range all { // fills caches
		if _, err := p.ask(ctx, r, closed, 0); err != nil {
			return err
		}
	}
	for i := range p.Turns {
		for _, way := range ways {
			for j := range all {
				r := all[(i+j)%len(all)]
				p.Said(fmt.Sprintf("turn %d of %d, %s, %v", i+1, p.Turns, way, r.grid))
				t, err := p.ask(ctx, r, way, uint64(i))
				if err != nil {
					return err
				}
				r.turns[way] = append(r.turns[way], t)
			}
		}
	}
	for _, r := range all {
		r.figures(report)
	}
	return nil
}

func (p *Plan) start(ctx context.Context, g Grid) (*cluster.Cluster, error) {
	return cluster.Start(ctx, cluster.Config{
		Program: p.Program, DB: p.DB, Dir: filepath.Join(p.Dir, g.String()), Strategy: "weighted-move-fast",
		Order: balance.ByHash.String(), Interval: time.Hour, Slaves: g.Slaves(), Replicas: g.Replicas, Patience: p.Patience,
	})
}

// ask queries one cluster in one way.
func (p *Plan) ask(ctx context.Context, r *running, way string, seed uint64) (*turn, error) {
	c := openloop.Config{
		Addr: r.cluster.URL, Targets: p.Targets, Warmup: p.Duration / 8, Duration: p.Duration, Connections: 256, Timeout: 5 * time.Second, Seed: seed,
	}
	switch way {
	case closed:
		c.Closed = p.Closed
	case open:
		c.Rate = p.Rate
	}
	var names []string
	for pid, name := range r.cluster.Processes() {
		c.Processes, names = append(c.Processes, pid), append(names, name)
	}
	o, err := openloop.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	if o.Complete == 0 {
		return nil, fmt.Errorf("%v, %s: no complete answer: %w", r.grid, way, o.FirstError)
	}
	t := &turn{Outcome: o}
	each := func(d time.Duration) float64 { return d.Seconds() * 1e6 / float64(o.Answered()) }
	t.generator = each(o.CPU)
	for i, used := range o.ServerCPUs {
		switch {
		case names[i] == "master":
			t.master += each(used)
		case strings.HasPrefix(names[i], "slave-"):
			t.slaves += each(used)
		}
	}
	return t, nil
}
