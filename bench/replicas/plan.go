package replicas

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adshard/barrels"
	"adshard/barrels/kv"
	"adshard/bench/measure"
	"adshard/search"
)

// Plan is what is measured.
type Plan struct {
	// DB is the data of every replica.
	DB      kv.DB
	Queries []*search.Query
	// Replicas are 2 to 16. Parts are those of the posting lists that the cache of each
	// holds; Workers ask while topics are measured, all queries in each of the Rounds.
	Replicas, Workers, Rounds int
	Parts                     []float64
	// Rate is the queries a second while hedges and slow replicas are measured, Duration
	// how long each way of asking is; Longer is how much longer a slow search takes.
	Rate     float64
	Duration time.Duration
	Longer   time.Duration
}

// Validate lists all that is wrong with the numbers.
func (p *Plan) Validate() error {
	var faults []error
	fail := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fail(p.Replicas < 2 || p.Replicas > 16, "%d replicas: 2 to 16", p.Replicas)
	fail(p.Workers < 1 || p.Workers > 1024, "%d workers: 1 to 1024", p.Workers)
	fail(p.Rounds < 1 || p.Rounds > 1000, "%d rounds: 1 to 1000", p.Rounds)
	fail(!(p.Rate > 0 && p.Rate <= 100_000), "a rate of %g: more than 0, at most 100000", p.Rate)
	fail(p.Duration <= 0 || p.Duration > time.Hour, "a duration of %v: more than 0, at most 1h", p.Duration)
	fail(p.Longer <= 0 || p.Longer > time.Second, "searches longer by %v: more than 0, at most 1s", p.Longer)
	for _, part := range p.Parts {
		fail(!(part > 0 && part <= 1), "a part of %g: more than 0, at most 1", part)
	}
	return errors.Join(faults...)
}

// The ways of asking.
const (
	inTurn     = "in turn"
	twoRandom  = "two at random"
	byTopic    = "by topic"
	withHedges = "as a master, with hedges"
)

// Run measures everything, and adds it to the report.
func (p *Plan) Run(ctx context.Context, report *measure.Report) error {
	lists, others, err := p.sizes(ctx)
	if err != nil {
		return err
	}
	report.Add("posting lists, all that the queries need", "bytes", float64(lists))
	for _, part := range p.Parts {
		// Lists get half of what is left after terms and parents.
		if err := p.topics(ctx, report, part, others+uint64(2*part*float64(lists))); err != nil {
			return err
		}
	}
	return p.slowness(ctx, report)
}

// sizes returns what the posting lists of the queries take in memory, and the terms and
// parents of a store.
func (p *Plan) sizes(ctx context.Context) (lists, others uint64, err error) {
	g, err := p.open(ample, 1)
	if err != nil {
		return 0, 0, err
	}
	_, err = Each(ctx, p.Queries, p.Workers, InTurn(g.slaves))
	m := g.stores[0].Stats().Memory
	return m.Lists, m.Terms + m.Parents, errors.Join(err, g.close())
}

// ample is a cache in which all has room, in bytes. A larger cache also remembers more of what
// was asked, so it is not simply the largest number.
const ample = 64 << 30

// group is replicas of one shard.
type group struct {
	stores []barrels.Store
	slaves []*Slow
	counts []*Counting
}

// open opens replicas with the given memory each.
func (p *Plan) open(cache uint64, replicas int) (_ *group, err error) {
	g := new(group)
	for range replicas {
		counting := &Counting{DB: p.DB}
		store, err := barrels.Open(counting, barrels.Options{CacheBytes: cache})
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		g.stores, g.counts = append(g.stores, store), append(g.counts, counting)
		g.slaves = append(g.slaves, &Slow{Slave: store})
	}
	return g, nil
}

func (g *group) close() (err error) {
	for _, s := range g.stores {
		err = errors.Join(err, s.Close())
	}
	return err
}

// read returns how many posting lists and bytes of them were read so far.
func (g *group) read() (lists, bytes uint64) {
	for _, c := range g.counts {
		lists, bytes = lists+c.Lists(), bytes+c.Bytes()
	}
	return lists, bytes
}

// calls returns the number of calls so far, in all and at each replica.
func (g *group) calls() (all int64, each []int64) {
	for _, s := range g.slaves {
		each = append(each, s.Calls())
		all += s.Calls()
	}
	return all, each
}
