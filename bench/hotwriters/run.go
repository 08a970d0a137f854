package hotwriters

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adshard/backend/sqlite"
	"adshard/balance"
	"adshard/bench/cluster"
	"adshard/bench/measure"
)

// Program is a program adshard to be measured.
type Program struct{ Name, Path string }

// Config says what to measure.
type Config struct {
	Programs []Program
	// Keywords are the sizes of the hot group; each size is measured by itself.
	Keywords []int
	// Rate is the number of changes of the hot group per second; 0: none.
	Rate float64
	// Others is the number of other groups that are changed; each is changed again once
	// its change was shown.
	Others int
	// Replicas is the number of slaves, each of which holds all data.
	Replicas int
	// Turns is the number of turns of each program, each of which lasts Duration.
	Turns    int
	Duration time.Duration
	// Patience bounds the first fill; Most is the longest wait until a change is shown.
	Patience, Most time.Duration
	Seed           uint64
	// Dir is a directory for databases and stores.
	Dir string
	// Tell, if not nil, is called with a description of the next step.
	Tell func(string)
}

// Validate returns an error if the configuration is not valid.
func (c *Config) Validate() error {
	switch {
	case len(c.Programs) == 0 || len(c.Keywords) == 0:
		return errors.New("name at least one program and one size of the hot group")
	case c.Rate < 0 || c.Rate > 100_000:
		return errors.New("the rate is 0 to 100,000 changes a second")
	case c.Others < 1 || c.Others > 100:
		return errors.New("there are 1 to 100 other groups")
	case c.Replicas < 1 || c.Replicas > 8:
		return errors.New("there are 1 to 8 replicas")
	case c.Turns < 1 || c.Turns > 1000 || c.Duration < time.Second || c.Patience < time.Second || c.Most < time.Second:
		return errors.New("there are 1 to 1,000 turns of a second or more, and what is waited for is given a second at least")
	}
	for _, n := range c.Keywords {
		if n < 1 || n > 1_000_000 {
			return fmt.Errorf("a hot group of %d keywords: 1 to 1,000,000", n)
		}
	}
	return nil
}

// Run measures all programs with all sizes, in turns, and adds the figures to a report.
func (c *Config) Run(ctx context.Context, r *measure.Report) error {
	for _, keywords := range c.Keywords {
		turns := make([][]*turn, len(c.Programs))
		for n := range c.Turns {
			for k := range c.Programs {
				i := (k + n) % len(c.Programs) // so that no program is always the first
				if c.Tell != nil {
					c.Tell(fmt.Sprintf("%d keywords, turn %d of %d: %s", keywords, n+1, c.Turns, c.Programs[i].Name))
				}
				t, err := c.turn(ctx, c.Programs[i], keywords)
				if err != nil {
					return fmt.Errorf("%s: %w", c.Programs[i].Name, err)
				}
				turns[i] = append(turns[i], t)
			}
		}
		for i, p := range c.Programs {
			figures(r, fmt.Sprintf("%d keywords, %s: ", keywords, p.Name), turns[i])
		}
	}
	return nil
}

// turn measures a program with its own database and cluster.
func (c *Config) turn(ctx context.Context, p Program, keywords int) (t *turn, err error) {
	dir, err := os.MkdirTemp(c.Dir, "turn-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "ads.db")
	store, err := sqlite.Open(ctx, file, sqlite.Options{Create: true, BusyTimeout: c.Patience})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	scene, err := newScene(ctx, store, keywords, c.Others)
	if err != nil {
		return nil, err
	}
	run, err := cluster.Start(ctx, cluster.Config{
		Program: p.Path, DB: "sqlite:" + file, Dir: filepath.Join(dir, "cluster"), Strategy: "weighted-move-fast", Order: balance.ByHash.String(),
		Interval: time.Hour, Slaves: c.Replicas, Replicas: c.Replicas, Patience: c.Patience,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Stop()) }()
	if err := run.Replicated(ctx, c.Replicas); err != nil {
		return nil, err
	}
	return c.measure(ctx, scene, run)
}

// figures adds the results of one program's turns.
func figures(r *measure.Report, prefix string, turns []*turn) {
	each := func(name, unit string, value func(*turn) float64) {
		var list []float64
		for _, t := range turns {
			list = append(list, value(t))
		}
		r.AddRounds(prefix+name, unit, list)
	}
	each("others, median", "ms", func(t *turn) float64 { return t.took.Spread().Median / 1000 })
	each("others, p99", "ms", func(t *turn) float64 { return t.took.Spread().P99 / 1000 })
	each("others, max", "ms", func(t *turn) float64 { return t.took.Spread().Max / 1000 })
	each("others, changes", "", func(t *turn) float64 { return float64(t.took.Count()) })
	each("others, given up", "", func(t *turn) float64 { return float64(t.givenUp) })
	each("told lag, median", "ms", func(t *turn) float64 { return t.lags.Spread().Median / 1000 })
	each("told lag, max", "ms", func(t *turn) float64 { return t.lags.Spread().Max / 1000 })
	each("hot group, changes", "1/s", func(t *turn) float64 { return t.changes })
	each("groups given to a slave", "1/s", func(t *turn) float64 { return t.applied })
	each("queries asked elsewhere", "", func(t *turn) float64 { return t.again })
}
