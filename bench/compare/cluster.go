package compare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"adshard/bench/cluster"
	"adshard/bench/measure"
	"adshard/bench/openloop"
	"adshard/bench/trace"
	"adshard/bench/workload"
	"adshard/internal/wait"
)

// Cluster says how to run clusters of real processes.
type Cluster struct {
	// DB is the database's URL. Dir holds the stores during a run.
	DB, Dir      string
	program      string
	distributors int
	settle       time.Duration
	patience     time.Duration
	keep         bool
}

// Flags adds the flags of a cluster.
func (c *Cluster) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&c.program, "adshard", "", "the program adshard; \"\": beside this one, or on the path")
	flags.IntVar(&c.distributors, "distributors", 0, "processes that distribute; 0: the balancer does")
	flags.DurationVar(&c.settle, "settle", 2*time.Second, "time between the first fill and the load")
	flags.DurationVar(&c.patience, "patience", 15*time.Minute, "the longest first fill")
	flags.BoolVar(&c.keep, "keep", false, "keep the stores and logs of real clusters in --work")
}

// Check returns an error if the program of a cluster is missing.
func (c *Cluster) Check() error {
	_, err := cluster.Program(c.program)
	return err
}

// Run runs one strategy on a fresh cluster of real processes.
func (c *Cluster) Run(ctx context.Context, t *trace.Trace, w *workload.Workload, name string, o Options) (run Run, err error) {
	cfg, err := c.config(t, name, o)
	if err != nil {
		return Run{}, err
	}
	if o.Progress != nil {
		o.Progress(name+", first fill", -1)
	}
	if err := os.RemoveAll(cfg.Dir); err != nil {
		return Run{}, err
	}
	running, err := cluster.Start(ctx, cfg)
	if err != nil {
		return Run{}, err
	}
	defer func() {
		err = errors.Join(err, running.Stop())
		if !c.keep && err == nil {
			err = os.RemoveAll(cfg.Dir)
		}
	}()
	l := &live{cluster: running, t: t, w: w, o: o, name: name, settle: c.settle, run: Run{Strategy: name}}
	if err := l.measure(ctx); err != nil {
		return Run{}, fmt.Errorf("%s: %w", name, err)
	}
	return l.run, nil
}

func (c *Cluster) config(t *trace.Trace, name string, o Options) (cluster.Config, error) {
	program, err := cluster.Program(c.program)
	if err != nil {
		return cluster.Config{}, err
	}
	cfg := cluster.Config{
		Program: program, DB: c.DB, Dir: filepath.Join(c.Dir, "cluster-"+name),
		Strategy: name, Order: t.Order.String(), Interval: o.Interval,
		Slaves: o.Slaves, Distributors: c.distributors, Patience: c.patience,
	}
	if o.Initial != "" {
		cfg.Strategy = o.Initial
	}
	return cfg, nil
}

// live is one run on a real cluster.
type live struct {
	cluster *cluster.Cluster
	t       *trace.Trace
	w       *workload.Workload
	o       Options
	name    string
	settle  time.Duration
	run     Run
	watch   *watch
}

// measure loads the cluster with queries and records what it shows.
func (l *live) measure(ctx context.Context) error {
	load := openloop.Config{
		Addr: l.cluster.URL, Rate: l.w.MeanRate(l.o.Rate, l.o.Duration), Duration: l.o.Duration, Connections: 64,
		Timeout: 5 * time.Second, Processes: slices.Collect(maps.Keys(l.cluster.Processes())),
	}
	load.Targets, load.Schedule = l.targets()
	if err := l.rest(ctx, &load); err != nil {
		return err
	}
	l.watch = newWatch(l)
	if err := errors.Join(l.watch.begin(ctx), l.cluster.Resume(ctx)); err != nil {
		return err
	}
	outcome, err := openloop.Run(ctx, load)
	watched := l.watch.end()
	if err != nil {
		return err
	}
	if watched != nil {
		return watched
	}
	l.figures(outcome)
	return nil
}

// rest records the answers of the cluster at rest, paused after its first fill.
// Then it puts the strategy to be measured in charge.
func (l *live) rest(ctx context.Context, load *openloop.Config) (err error) {
	if err := l.cluster.Pause(ctx); err != nil {
		return err
	}
	if err := wait.Sleep(ctx, l.settle); err != nil {
		return err
	}
	l.progress("recording answers", -1)
	if load.Reference, err = openloop.Record(ctx, *load); err != nil {
		return err
	}
	if l.o.Initial != "" {
		err = l.cluster.Use(ctx, l.name)
	}
	return err
}

func (l *live) progress(what string, done float64) {
	if l.o.Progress != nil {
		l.o.Progress(l.name+", "+what, done)
	}
}

// memory adds the memory of the processes to the figures.
func (l *live) memory(all map[string]measure.Memory) {
	const mib = 1 << 20
	var slaves, most float64
	for i := range l.o.Slaves {
		m := float64(all[cluster.SlaveName(i)].Resident)
		slaves += m / float64(l.o.Slaves)
		most = max(most, m)
	}
	l.run.Add("memory of the balancer", "MiB", float64(all["balancer"].Resident)/mib)
	l.run.Add("memory of a slave, mean", "MiB", slaves/mib)
	l.run.Add("memory of a slave, most", "MiB", most/mib)
	l.run.Add("memory of the master", "MiB", float64(all["master"].Resident)/mib)
}
