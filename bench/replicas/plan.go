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

// Plan says what is measured.
type Plan struct {
	// DB holds the data of every replica.
	DB      kv.DB
	Queries []*search.Query
	// Replicas is the number of replicas, 2 to 16. Parts are the shares of the posting lists that
	// the cache of each one can hold. Workers is the number of concurrent queries while topics
	// are measured; each of the Rounds asks all queries.
	Replicas, Workers, Rounds int
	Parts                     []float64
	// Rate is the number of queries per second while hedges and slow replicas are measured,
	// Duration the time for each way of asking. Longer is how much longer a slow search takes.
	Rate     float64
	Duration time.Duration
	Longer   time.Duration
}

// Validate returns an error that lists everything that is wrong with the numbers, or nil.
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

// Run measures everything and adds it to the report.
func (p *Plan) Run(ctx context.Context, report *measure.Report) error {
	lists, others, err := p.sizes(ctx)
	if err != nil {
		return err
	}
	report.Add("posting lists, all that the queries need", "bytes", float64(lists))
	for _, part := range p.Parts {
		// Lists get half of what terms and parents leave.
		if err := p.topics(ctx, report, part, others+uint64(2*part*float64(lists))); err != nil {
			return err
		}
	}
	return p.slowness(ctx, report)
}

// sizes returns the sizes in memory of the posting lists of the queries, and of the terms and
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

// ample is the size of a cache that has room for everything, in bytes. A larger cache also
// remembers more of what was asked, so it is not simply the largest number.
const ample = 64 << 30

// group is a group of replicas of one shard.
type group struct {
	stores []barrels.Store
	slaves []*Slow
	counts []*Counting
}

// open opens replicas with the given amount of memory each.
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

// read returns the number and the size of the posting lists that were read so far.
func (g *group) read() (lists, bytes uint64) {
	for _, c := range g.counts {
		lists, bytes = lists+c.Lists(), bytes+c.Bytes()
	}
	return lists, bytes
}

// calls returns the number of calls so far, in total and at each replica.
func (g *group) calls() (all int64, each []int64) {
	for _, s := range g.slaves {
		each = append(each, s.Calls())
		all += s.Calls()
	}
	return all, each
}
