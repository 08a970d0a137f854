package premise

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"adshard/auction"
	"adshard/bench/cgroup"
	"adshard/bench/cluster"
	"adshard/bench/openloop"
	"adshard/bench/workload"
	"adshard/internal/oracle"
	"adshard/internal/outfile"
	"adshard/scorer"
)

// Fixed is the name of the row in which nothing moves: groups stay where placedBy first puts
// them, by size.
const (
	Fixed    = "fixed"
	placedBy = "weighted-move"
)

// Plan says what is measured.
type Plan struct {
	// Program is the path of the program adshard, DB the database's URL, Dir a directory for
	// stores, logs and models.
	Program, DB, Dir string
	// Workload has two mixes. The second one begins after Before.
	Workload *workload.Workload
	// Trees are the numbers of trees of the models; None: no scorer.
	Trees      []int
	Strategies []string
	Order      string
	Slaves     int
	// Share is the share of one processor that a slave may use; 0: all.
	Share float64
	// Load is the rate as a share of what the placement Fixed answers in time.
	Load   float64
	Rounds int
	// Exact: every matching keyword is scored. Otherwise searches stop early, as they do for
	// users.
	Exact bool
	// Before and After are how long the two mixes are asked; only the second is measured. Capacity
	// is how long the rate is searched for, Interval the time between two iterations.
	Before, After, Capacity, Interval time.Duration
	// Deadline is the time that each request gives the cluster. Patience bounds the first fill.
	Deadline, Patience time.Duration
	// Said, if not nil, is called with a description of each step that begins.
	Said func(what string)
}

// None stands for no model.
const None = -1

// Validate returns an error that lists everything that is wrong with the numbers, or nil.
func (p *Plan) Validate() error {
	var faults []error
	fail := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fail(len(p.Trees) == 0, "no models: name at least one")
	for _, n := range p.Trees {
		fail(n < None || n > scorer.MaxTrees, "a model of %d trees: 0 to %d, or %d for none", n, scorer.MaxTrees, None)
	}
	fail(p.Slaves < 1 || p.Slaves > cluster.MaxSlaves, "%d slaves: 1 to %d", p.Slaves, cluster.MaxSlaves)
	fail(p.Share != 0 && !(p.Share >= cgroup.LeastShare && p.Share <= 1), "a share of %g: 0 (no limit), or %g to 1", p.Share, cgroup.LeastShare)
	fail(!(p.Load > 0 && p.Load <= 10), "a load of %g: more than 0, up to 10", p.Load)
	fail(p.Rounds < 1 || p.Rounds > 100, "%d rounds: 1 to 100", p.Rounds)
	fail(p.Before <= 0 || p.After <= 0 || p.Capacity <= 0 || p.Interval <= 0 || p.Deadline < time.Millisecond, "times are above 0, the deadline at least 1ms")
	return errors.Join(faults...)
}

// model is a model with its cost.
type model struct {
	Cost
	file  string // "": none
	fault error  // why nothing can be measured with this model
}

// models writes the models and measures their costs per candidate.
func (p *Plan) models() (list []*model, err error) {
	for _, trees := range p.Trees {
		m := &model{Cost: Cost{Trees: trees}}
		if list = append(list, m); trees == None {
			continue
		}
		raw := oracle.LargeModel(trees)
		m.file = filepath.Join(p.Dir, fmt.Sprintf("model-%d.json", trees))
		if err := (outfile.Output{Path: m.file, Kind: outfile.Kind{Name: "a model"}}).WriteBytes(raw); err != nil {
			return nil, err
		}
		of, err := scorer.Parse(raw)
		if err != nil {
			return nil, err
		}
		m.Micros = micros(of.For(&auction.Situation{Hour: 3}))
	}
	return list, nil
}

// micros returns the cost of a candidate: the least of several turns, because other programs
// can only add to it.
func micros(c auction.Scoring) float64 {
	const turns, each = 20, 5 * time.Millisecond
	least := each
	for range turns {
		began, n := time.Now(), uint64(0)
		for ; time.Since(began) < each || n < 8; n++ {
			c.Factor(&auction.Features{Match: uint8(n % 3), Words: uint8(n % 10), Quality: 5, Advertiser: n * 7919 % 1000, Campaign: n * 104729 % 1000})
		}
		least = min(least, time.Since(began)/time.Duration(n))
	}
	return float64(least) / float64(time.Microsecond)
}

// asked returns the requests and, for each query, the index of its request, or -1 if a cluster
// would refuse it.
func (p *Plan) asked() (targets []openloop.Target, number []int) {
	more := url.Values{"timeout_ms": {fmt.Sprint(p.Deadline.Milliseconds())}}
	if p.Exact {
		more.Set("counts", "exact")
	}
	for _, q := range p.Workload.Queries {
		at := -1
		if target, ok := openloop.Search(q, more); ok {
			at = len(targets)
			targets = append(targets, target)
		}
		number = append(number, at)
	}
	return targets, number
}

// events returns the requests of both mixes, at a rate.
func (p *Plan) events(number []int, rate float64) iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) {
		for at, q := range p.Workload.Events(rate, p.Before+p.After) {
			if number[q] >= 0 && !yield(at, number[q]) {
				return
			}
		}
	}
}

// second returns the requests of the second mix only, far more than can be asked.
func (p *Plan) second(number []int) iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) {
		for at, target := range p.events(number, openloop.MaxRate) {
			if at >= p.Before && !yield(at, target) {
				return
			}
		}
	}
}

// order returns the order of the strategies in a round. Each round begins with another
// strategy, so that none always has the same place.
func (p *Plan) order(round int) []string {
	at := round % len(p.Strategies)
	return slices.Concat(p.Strategies[at:], p.Strategies[:at])
}

func (p *Plan) say(format string, args ...any) {
	if p.Said != nil {
		p.Said(fmt.Sprintf(format, args...))
	}
}

// start starts a paused cluster and limits its slaves; limited reports whether that was
// possible.
func (p *Plan) start(ctx context.Context, m *model, name string) (c *cluster.Cluster, limited bool, err error) {
	cfg := cluster.Config{
		Program: p.Program, DB: p.DB, Dir: filepath.Join(p.Dir, "cluster"), Strategy: name, Order: p.Order, Interval: p.Interval,
		Slaves: p.Slaves, Patience: p.Patience,
	}
	if name == Fixed {
		cfg.Strategy = placedBy
	}
	if m.file != "" {
		cfg.SlaveFlags, cfg.MasterFlags = []string{"--scorer", m.file}, []string{"--scorer", m.file}
	}
	if c, err = cluster.Start(ctx, cfg); err != nil {
		return nil, false, err
	}
	if err := c.Pause(ctx); err != nil {
		return nil, false, errors.Join(err, c.Stop())
	}
	if p.Share > 0 {
		if err := c.Limit(p.Share); err != nil {
			p.say("the slaves are not limited: %v", err)
			return c, false, nil
		}
	}
	return c, p.Share > 0, nil
}
