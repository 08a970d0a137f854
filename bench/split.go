package bench

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/measure"
	"adshard/bench/splitting"
	"adshard/internal/outfile"
)

type splitFlags struct {
	work workDir
	html string
	splitting.Plan
	output
}

// SplitCommand returns the subcommand split, which repeats the experiments of the
// paper on split keys.
func SplitCommand() *cobra.Command {
	var f splitFlags
	c := &cobra.Command{
		Use:   "split",
		Short: "Repeat the experiments of the paper on split keys, figures and verdicts side by side",
		Long: `Repeats the experiments of "Workload-aware table splitting for NoSQL" (SAC 2014)
with the product's estimates of split keys: figures 1 to 5 follow them through
20,000 requests, with a first key that is fixed and one that is drawn; figures 6 and 7
split a table of 1,000-byte records between two stores, by size and by load, with keys
in the order of popularity and hashed.

Figures 1 to 5 are the same on every machine. The stores need three times the records'
size on the disk and in memory, and a core that does nothing else.`,
		Example: `  adbench split --html split.html --json split.json
  adbench split --records 0   # without the two nodes`,
		Args: func(c *cobra.Command, args []string) error {
			return errors.Join(f.check(), cobra.NoArgs(c, args))
		},
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.IntVar(&f.Seeds, "seeds", 30, "runs of each estimate")
	flags.IntVar(&f.Nodes.Records, "records", 1_000_000, "records of the table on two nodes; 0: leave that out")
	flags.IntVar(&f.Nodes.Operations, "operations", 300_000, "operations of a round on two nodes")
	flags.IntVar(&f.Nodes.Rounds, "rounds", 3, "rounds of each placement")
	flags.Var(&f.work, "work", "directory for the two stores, which are removed at the end; default: that of temporary files")
	flags.StringVar(&f.html, "html", "", "also write a page with charts to this file")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything runs.
func (f *splitFlags) check() error {
	return errors.Join(f.Validate(), outfile.Check(nil,
		jsonOf(f.name, f.json), pageTo(f.html)))
}

func (f *splitFlags) run(ctx context.Context, out io.Writer) (err error) {
	dir, remove, err := f.work.temporary("adbench-split")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	f.Nodes.Dir = dir
	report := newReport("split")
	if err := f.Run(ctx, report); err != nil {
		return err
	}
	if err := f.write(out, report); err != nil || f.html == "" {
		return err
	}
	about := []string{time.Now().UTC().Format(time.DateOnly), measure.Machine(), "load before: " + report.Load}
	return pageTo(f.html).Write(func(w io.Writer) error { return f.WritePage(w, report, about) })
}
