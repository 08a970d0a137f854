package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"adshard/balance"
	"adshard/bench/cluster"
	"adshard/bench/measure"
	"adshard/internal/node/copying"
	"adshard/internal/progress"
)

// copyFlags are the flags of `adbench copy`.
type copyFlags struct {
	clusterFlags
	slaves   int
	replicas int
	rounds   int
	output
}

// CopyCommand returns the subcommand copy, which compares how long it takes to fill a
// slave by copying and from the database.
func CopyCommand() *cobra.Command {
	var f copyFlags
	c := &cobra.Command{
		Use:   "copy [--db URL]",
		Short: "Compare copying a slave's store with filling it from the database",
		Long: `Starts a cluster of real processes with one slave. In each round the slave is
replaced twice: by one with an empty directory, which is filled from the database,
and by one whose directory was filled by copy while the slave before it ran. All
files are read, verified and on disk when the copy counts as complete. The time
until a slave serves ends with the first complete answer; it contains the start of
the process, and that of a copy the copying.

With --replicas the cluster has --slaves slaves, the directory of one is emptied in each
round, and the cluster replaces it by itself: once with siblings that may not be copied,
so that it is filled from the database, and once by copy. It serves when masters may ask
it again.`,
		Example: `  adbench copy --keywords 1000000 --work big
  adbench copy --keywords 1000000 --slaves 6 --replicas 2
  adbench copy --db sqlite:ads.db --rounds 5`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	f.clusterFlags.flags(flags)
	flags.IntVar(&f.slaves, "slaves", 6, "slaves of the cluster, with --replicas")
	flags.IntVar(&f.replicas, "replicas", 1, "slaves that hold each slice")
	flags.IntVar(&f.rounds, "rounds", 3, "how often the slave is replaced each way")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before a cluster is started.
func (f *copyFlags) check(c *cobra.Command, args []string) error {
	if f.rounds < 1 || f.rounds > 1000 {
		return fmt.Errorf("--rounds %d: 1 to 1000", f.rounds)
	}
	if f.replicas < 1 || f.replicas > 1 && (f.slaves%f.replicas != 0 || f.slaves < f.replicas || f.slaves > cluster.MaxSlaves) {
		return fmt.Errorf("--slaves %d --replicas %d: the slaves are shards of as many replicas, at most %d of them", f.slaves, f.replicas, cluster.MaxSlaves)
	}
	if err := f.output.check(f.inputs()...); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *copyFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	p := progress.New(told)
	defer p.End()
	made, err := f.prepare(ctx, "copy", p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.remove()) }()
	report := newReport("copy")
	cfg := cluster.Config{
		Program: made.program, DB: made.db, Dir: made.stores, Strategy: "weighted-move-fast", Order: balance.ByHash.String(), Interval: time.Hour,
		Slaves: 1, Patience: f.patience,
		Progress: func(groups float64) {
			p.Share("first fill", groups/float64(max(1, made.counts.Groups)*uint64(f.replicas)))
		},
	}
	var times copyTimes
	if f.replicas > 1 {
		cfg.Slaves, cfg.Replicas = f.slaves, f.replicas
		err = f.replace(ctx, cfg, &times)
	} else {
		err = f.rounded(ctx, cfg, made.stores, times.round)
	}
	if err != nil {
		return err
	}
	times.figures(report, made.counts.Keywords)
	if f.replicas > 1 {
		report.Note("one of %d slaves, %d of which hold each slice", f.slaves, f.replicas)
	}
	p.End()
	return f.write(out, report)
}

// rounded runs all rounds on a cluster, each with its own directory below stores.
func (f *copyFlags) rounded(ctx context.Context, cfg cluster.Config, stores string, round func(context.Context, *cluster.Cluster, string) error) error {
	c, err := cluster.Start(ctx, cfg)
	if err != nil {
		return err
	}
	for i := range f.rounds {
		if f.replicas > 1 { // a sibling that is still being filled could not be copied
			if err = c.Whole(ctx); err != nil {
				break
			}
		}
		if err = round(ctx, c, filepath.Join(stores, fmt.Sprint("round-", i))); err != nil {
			break
		}
	}
	return errors.Join(err, c.Stop())
}

// nobody is an address that no slave has.
const nobody = "192.0.2.1"

// replace makes clusters replace an emptied slave by themselves, once from the database
// and once by copying.
func (f *copyFlags) replace(ctx context.Context, cfg cluster.Config, t *copyTimes) error {
	database := cfg
	database.Dir, database.SlaveFlags = filepath.Join(cfg.Dir, "database"), []string{"--trusted-slaves", nobody}
	err := f.rounded(ctx, database, database.Dir, func(ctx context.Context, c *cluster.Cluster, dir string) error {
		took, err := c.Replace(ctx, 0, dir)
		t.database = append(t.database, took)
		return err
	})
	if err := errors.Join(err, os.RemoveAll(database.Dir)); err != nil {
		return err
	}
	return f.rounded(ctx, cfg, cfg.Dir, func(ctx context.Context, c *cluster.Cluster, dir string) error {
		took, err := c.Replace(ctx, 0, dir)
		if err != nil {
			return err
		}
		alone := filepath.Join(dir, "alone") // copies the files once more, without a slave
		r, err := copying.FillFrom(ctx, copying.DefaultConfig("alone", alone, slog.New(slog.DiscardHandler)), c.SlaveAddress(0))
		if err != nil {
			return err
		}
		t.files, t.serving, t.bytes = append(t.files, r.Took), append(t.serving, took), r.Bytes
		return os.RemoveAll(alone)
	})
}

// copyTimes is what the rounds took.
type copyTimes struct {
	database, files, serving []time.Duration
	bytes                    uint64
}

// round replaces the slave by one that is filled from the database, and then that one by
// a copy.
func (t *copyTimes) round(ctx context.Context, c *cluster.Cluster, dir string) error {
	filled, copied := filepath.Join(dir, "filled"), filepath.Join(dir, "copied")
	database, err := c.Replace(ctx, 0, filled)
	if err != nil {
		return err
	}
	cfg := copying.DefaultConfig(cluster.SlaveName(0), copied, slog.New(slog.DiscardHandler))
	r, err := copying.FillFrom(ctx, cfg, c.SlaveAddress(0))
	if err != nil {
		return err
	}
	started, err := c.Replace(ctx, 0, copied)
	if err != nil {
		return err
	}
	t.database, t.files, t.serving = append(t.database, database), append(t.files, r.Took), append(t.serving, r.Took+started)
	t.bytes = r.Bytes
	return os.RemoveAll(filled)
}

func (t *copyTimes) figures(r *measure.Report, keywords uint64) {
	database, files, serving := median(t.database), median(t.files), median(t.serving)
	r.Add("keywords", "", float64(keywords))
	r.Add("size of the store", "MiB", float64(t.bytes)/(1<<20))
	r.Add("filled from the database, until it serves", "s", database.Seconds())
	r.Add("files copied, verified and on disk", "s", files.Seconds())
	r.Add("filled by copy, until it serves", "s", serving.Seconds())
	r.Add("files: times as fast as the database", "", database.Seconds()/files.Seconds())
	r.Add("until it serves: times as fast as the database", "", database.Seconds()/serving.Seconds())
	r.Note("medians of %d rounds", len(t.database))
}

// median returns the median, or the upper of two middle values.
func median(list []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(list))[len(list)/2]
}
