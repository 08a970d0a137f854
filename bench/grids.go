package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/grid"
	"adshard/bench/openloop"
	"adshard/internal/progress"
)

// gridFlags are the flags of `adbench grid`.
type gridFlags struct {
	clusterFlags
	grids []string
	plan  grid.Plan
	output
}

// GridCommand returns the subcommand grid, which measures grids of shards and replicas.
func GridCommand() *cobra.Command {
	var f gridFlags
	c := &cobra.Command{
		Use:   "grid [--db URL] --queries FILE",
		Short: "Measure grids of shards and replicas side by side on this machine",
		Long: `Starts a cluster of real processes for each grid, all with the same data, and asks
them in turns: one request at a time (alone), a fixed number always under way
(closed), and at random times at a rate that all of them can answer (open). All
clusters run meanwhile; those that are not asked have nothing to do.

'adbench sizing' makes the figures of 'adshard size' from this report, and compares
what they predict with what was measured.`,
		Example: `  adbench grid --db sqlite:ads.db --queries queries.txt --json grid.json
  adbench grid --keywords 1000000 --queries queries.txt --grids 1x1,3x1 --rate 800`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	f.clusterFlags.flags(flags)
	flags.StringSliceVar(&f.grids, "grids", []string{"1x1", "3x1", "1x4", "2x2", "4x1"}, "the grids, each SHARDSxREPLICAS")
	flags.IntVar(&f.plan.Turns, "turns", 3, "how often each grid is asked")
	flags.DurationVar(&f.plan.Duration, "duration", 4*time.Second, "how long each time, in each of the three ways")
	flags.IntVar(&f.plan.Closed, "closed", 64, "requests that are kept under way")
	flags.Float64Var(&f.plan.Rate, "rate", 1500, "requests a second, of the open loop")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before a cluster is started.
func (f *gridFlags) check(c *cobra.Command, args []string) error {
	f.plan.Grids = nil
	for _, text := range f.grids {
		g, err := grid.Parse(text)
		if err != nil {
			return fmt.Errorf("--grids: %w", err)
		}
		f.plan.Grids = append(f.plan.Grids, g)
	}
	switch {
	case f.queries == "":
		return errors.New("--queries is missing: name a file with one query a line")
	case f.plan.Turns < 1 || f.plan.Turns > 1000:
		return fmt.Errorf("--turns %d: 1 to 1000", f.plan.Turns)
	case f.plan.Rate <= 0 || f.plan.Closed < 1:
		return errors.New("--rate is more than 0, --closed at least 1")
	}
	if err := f.output.check(f.inputs()...); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *gridFlags) run(ctx context.Context, out, said io.Writer) (err error) {
	texts, err := readQueries(f.queries)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if target, ok := openloop.Search(text, nil); ok {
			f.plan.Targets = append(f.plan.Targets, target)
		}
	}
	p := progress.New(said)
	defer p.End()
	made, err := f.prepare(ctx, "grids", p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.remove()) }()
	f.plan.Program, f.plan.DB, f.plan.Dir, f.plan.Patience = made.program, made.db, made.stores, f.patience
	f.plan.Said = func(step string) { p.Share(step, -1) }
	report := newReport("grid")
	report.Add("keywords", "", float64(made.counts.Keywords))
	report.Add("rate of the open loop", "/s", f.plan.Rate)
	if err := f.plan.Run(ctx, report); err != nil {
		return err
	}
	report.Note("grids are shards x replicas: %s; medians of %d turns", strings.Join(f.grids, ", "), f.plan.Turns)
	p.End()
	return f.write(out, report)
}
