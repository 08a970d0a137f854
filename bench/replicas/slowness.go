package replicas

import (
	"context"
	"errors"
	"time"

	"adshard/bench/measure"
)

// A replica that is slow at times is slow for slowPart of every slowPeriod. If
// searches stall at random, the share stalls of them does.
const (
	slowPeriod = time.Second
	slowPart   = 100 * time.Millisecond
	stalls     = 0.01
	// slowRounds is the number of parts in which each way of asking is measured, in
	// turns.
	slowRounds = 4
)

// trouble is a kind of slowness, with the ways of asking that are compared under
// it.
type trouble struct {
	name string
	slow func(*group, time.Duration)
	ways []string
}

var troubles = []trouble{
	{"no replica is slow", func(g *group, _ time.Duration) {
		for _, s := range g.slaves {
			s.Longer = nil
		}
	}, []string{inTurn, twoRandom, withHedges}},
	{"one is slow at times", func(g *group, d time.Duration) { g.slaves[0].Longer = AtTimes(slowPeriod, slowPart, d) },
		[]string{inTurn, twoRandom, withHedges}},
	{"searches stall at random", func(g *group, d time.Duration) {
		for _, s := range g.slaves {
			s.Longer = Sometimes(stalls, d)
		}
	}, []string{twoRandom, withHedges}},
	{"one is always slow", func(g *group, d time.Duration) { g.slaves[0].Longer = Always(d) },
		[]string{inTurn, twoRandom, withHedges}},
}

// slowness measures latencies with everything in memory while replicas are slow.
func (p *Plan) slowness(ctx context.Context, report *measure.Report) error {
	for _, t := range troubles {
		if err := p.troubled(ctx, report, &t); err != nil {
			return err
		}
	}
	return nil
}

// troubled measures one kind of slowness.
func (p *Plan) troubled(ctx context.Context, report *measure.Report, t *trouble) (err error) {
	var all []*coping
	for _, way := range t.ways {
		g, err := p.open(ample, p.Replicas)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, g.close()) }()
		for _, s := range g.slaves { // fills the caches
			if _, err := Each(ctx, p.Queries, 2, InTurn([]*Slow{s})); err != nil {
				return err
			}
		}
		t.slow(g, p.Longer)
		c := &coping{group: g, way: way}
		switch way {
		case inTurn:
			c.ask = InTurn(g.slaves)
		case twoRandom:
			c.ask = Chosen(g.slaves, false)
		default:
			c.ask = AsMaster(g.slaves)
		}
		all = append(all, c)
	}
	for i := range slowRounds {
		for j := range all {
			if err := all[(i+j)%len(all)].part(ctx, p); err != nil {
				return err
			}
		}
	}
	for _, c := range all {
		name := t.name + ", " + c.way + ": "
		report.AddRounds(name+"calls", "per query", c.calls)
		report.AddRounds(name+"calls at the first replica", "share", c.first)
		addTimes(report, name, []*measure.Latencies{c.times})
	}
	return nil
}

// coping is a way of asking replicas, with its results.
type coping struct {
	*group
	way          string
	ask          Asker
	calls, first []float64
	times        *measure.Latencies
}

// part asks queries for one part of the duration.
func (c *coping) part(ctx context.Context, p *Plan) error {
	all, each := c.group.calls()
	times, err := Arrivals(ctx, p.Queries, p.Rate, p.Duration/slowRounds, c.ask)
	if err != nil {
		return err
	}
	allNow, eachNow := c.group.calls()
	if c.times == nil {
		c.times = measure.NewLatencies()
	}
	c.times.Merge(times)
	c.calls = append(c.calls, float64(allNow-all)/float64(max(1, times.Count())))
	c.first = append(c.first, float64(eachNow[0]-each[0])/float64(max(1, allNow-all)))
	return nil
}
