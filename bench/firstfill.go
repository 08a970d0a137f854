package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adshard/balance"
	"adshard/bench/cluster"
	"adshard/bench/measure"
	"adshard/internal/progress"
)

// firstFillFlags are the flags of `adbench first-fill`.
type firstFillFlags struct {
	clusterFlags
	strategy, order      string
	slaves, distributors int
	output
}

// FirstFillCommand returns the subcommand first-fill, which measures how long a
// cluster takes to fill its empty slaves.
func FirstFillCommand() *cobra.Command {
	var f firstFillFlags
	c := &cobra.Command{
		Use:   "first-fill [--db URL] --slaves N",
		Short: "Measure how long a cluster takes to fill its empty slaves",
		Long: `Starts a cluster of real processes with empty slaves on a database, and measures
the time until a complete answer is possible, and the memory of its processes.
The slaves' stores lie in --work and are removed at the end.`,
		Example: `  adbench first-fill --db sqlite:ads.db --slaves 10
  adbench first-fill --keywords 8500000 --group-keywords 34 --slaves 10 --work big`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	f.clusterFlags.flags(flags)
	flags.StringVar(&f.strategy, "strategy", "original", "places the groups")
	flags.StringVar(&f.order, "order", balance.ByOwner.String(), "how groups lie on the ring: advertiser, hash or id")
	flags.IntVar(&f.slaves, "slaves", 10, "number of slaves")
	flags.IntVar(&f.distributors, "distributors", 0, "processes that distribute; 0: the balancer does")
	f.output.flags(c)
	return c
}

// check returns an error, before a cluster is started, if the report cannot be
// written.
func (f *firstFillFlags) check(c *cobra.Command, args []string) error {
	if err := f.output.check(f.inputs()...); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *firstFillFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	if f.slaves < 1 || f.slaves > cluster.MaxSlaves || f.distributors < 0 || f.distributors > cluster.MaxSlaves {
		return fmt.Errorf("--slaves is 1 to %d, --distributors 0 to %d", cluster.MaxSlaves, cluster.MaxSlaves)
	}
	p := progress.New(told)
	defer p.End()
	made, err := f.prepare(ctx, "first-fill", p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.remove()) }()
	report := newReport("first-fill")
	c, err := cluster.Start(ctx, cluster.Config{
		Program: made.program, DB: made.db, Dir: made.stores,
		Strategy: f.strategy, Order: f.order, Interval: time.Hour, Slaves: f.slaves, Distributors: f.distributors,
		Patience: f.patience,
		Progress: func(groups float64) { p.Share("first fill", groups/float64(max(1, made.counts.Groups))) },
	})
	if err != nil {
		return err
	}
	f.figures(report, c, made.counts.Groups, made.counts.Keywords)
	heap, err := cluster.Gauge(ctx, c.Balancer, "go_memstats_heap_alloc_bytes")
	if err == nil {
		report.Add("heap of the balancer at the end", "MiB", heap/(1<<20))
	}
	if err := errors.Join(err, c.Stop()); err != nil {
		return err
	}
	p.End()
	return f.write(out, report)
}

// figures adds the cost of the first fill.
func (f *firstFillFlags) figures(r *measure.Report, c *cluster.Cluster, groups, keywords uint64) {
	const mib = 1 << 20
	seconds := c.Filled.Seconds()
	r.Add("first fill", "s", seconds)
	r.Add("until the balancer listens", "s", c.Listening.Seconds())
	r.Add("groups", "", float64(groups))
	r.Add("keywords", "", float64(keywords))
	r.Add("groups per second", "/s", float64(groups)/seconds)
	r.Add("keywords per second", "/s", float64(keywords)/seconds)
	memory := c.Memory()
	b := memory["balancer"]
	r.Add("memory of the balancer before the slaves", "MiB", float64(c.Loaded.Resident)/mib)
	r.Add("memory of the balancer, peak", "MiB", float64(b.Peak)/mib)
	r.Add("memory of the balancer at the end", "MiB", float64(b.Resident)/mib)
	most := uint64(0)
	for i := range f.slaves {
		most = max(most, memory[cluster.SlaveName(i)].Peak)
	}
	r.Add("memory of a slave, peak", "MiB", float64(most)/mib)
	for i := range f.distributors {
		name := fmt.Sprintf("distributor-%d", i)
		r.Add("memory of "+name+", peak", "MiB", float64(memory[name].Peak)/mib)
	}
}
