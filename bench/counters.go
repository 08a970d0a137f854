package bench

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/hotspots"
)

type countersFlags struct {
	hotspots.Plan
	work workDir
	output
}

// CountersCommand returns the subcommand counters, which repeats the experiment of the
// paper on AutoShard.
func CountersCommand() *cobra.Command {
	var f countersFlags
	c := &cobra.Command{
		Use:   "counters",
		Short: "Repeat the experiment of the paper on AutoShard, figures and verdicts side by side",
		Long: `Repeats the experiment of "AutoShard – Declaratively Managing Hot Spot Data Objects
in NoSQL Document Stores" (WebDB 2014): users vote on few questions at once, with the
votes in a single row and in shards, without and with retries, on SQLite and, with
--postgres, on PostgreSQL; with a time injected before each put, and without.

Then static, dynamic and adaptive counters beside each other and a single row, as load
on one question rises and falls; and several numbers of shards.
The stores wait most of the time; the machine should do nothing else nevertheless.`,
		Example: `  adbench counters --json counters.json
  adbench counters --postgres 'postgres:///votes?host=/run/postgresql' # empties its counters
  adbench counters --course 0 --numbers 0 # the paper's experiment alone`,
		Args: func(c *cobra.Command, args []string) error {
			return errors.Join(f.check(), cobra.NoArgs(c, args))
		},
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.Float64Var(&f.Rate, "rate", 75, "votes a second on all questions")
	flags.DurationVar(&f.Duration, "duration", 12*time.Second, "how long users vote in each variant")
	flags.IntVar(&f.Users, "users", 2000, "users; each has one vote under way at most")
	flags.IntVar(&f.Questions, "questions", 16, "questions")
	flags.IntVar(&f.Shards, "shards", 10, "shards of static counters")
	flags.DurationVar(&f.Least, "least", 70*time.Millisecond, "the shortest time before each put, where one is injected")
	flags.DurationVar(&f.Most, "most", 80*time.Millisecond, "the longest")
	flags.IntSliceVar(&f.Numbers, "numbers", []int{1, 2, 5, 10, 20, 50}, "numbers of shards to compare; 0: none")
	flags.Float64SliceVar(&f.Course, "course", []float64{2, 20, 75, 150, 20, 2}, "votes a second on one question, phase by phase; 0: leave that out")
	flags.DurationVar(&f.Phase, "phase", 12*time.Second, "how long a phase lasts")
	flags.DurationVar(&f.Window, "window", time.Second, "the window of adaptive counters")
	flags.DurationVar(&f.Compact, "compact", 5*time.Second, "how often dynamic counters are compacted")
	flags.BoolVar(&f.Memory, "memory", false, "measure the store in memory, too")
	flags.StringVar(&f.Postgres, "postgres", "", "URL of a PostgreSQL database for measurements: its counters are deleted")
	flags.Var(&f.work, "work", "directory for SQLite's files, which are removed at the end; default: that of temporary files")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything runs.
func (f *countersFlags) check() error {
	if len(f.Numbers) == 1 && f.Numbers[0] == 0 {
		f.Numbers = nil
	}
	if len(f.Course) == 1 && f.Course[0] == 0 {
		f.Course = nil
	}
	return errors.Join(f.Validate(), f.output.check())
}

func (f *countersFlags) run(ctx context.Context, out io.Writer) (err error) {
	dir, remove, err := f.work.temporary("adbench-counters")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	f.Dir = dir
	report := newReport("counters")
	if err := f.Run(ctx, report); err != nil {
		return err
	}
	return f.write(out, report)
}
