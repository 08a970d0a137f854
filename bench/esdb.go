package bench

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/esdb"
	"adshard/bench/measure"
	"adshard/internal/outfile"
)

type esdbFlags struct {
	html string
	esdb.Plan
	output
}

// ESDBCommand returns the subcommand esdb, which repeats the experiments of the paper on ESDB
// in simulated time.
func ESDBCommand() *cobra.Command {
	var f esdbFlags
	c := &cobra.Command{
		Use:   "esdb",
		Short: "Repeat the experiments of the paper on ESDB in simulated time, figures and verdicts side by side",
		Long: `Repeats figures 10 to 14 and 16 of the paper on ESDB (2022) in simulated time: how
tenants' writes spread over shards and nodes with hashing, with double hashing, and with
rules that follow what each tenant stores and writes; rules are agreed on for a time to
come, and nothing is moved.

The figures are the same on every machine. They take about a minute.`,
		Example: `  adbench esdb --html esdb.html --json esdb.json`,
		Args: func(c *cobra.Command, args []string) error {
			return errors.Join(f.check(), cobra.NoArgs(c, args))
		},
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.DurationVar(&f.Duration, "duration", time.Minute, "simulated time of each point of figures 10 to 13")
	flags.IntVar(&f.Each, "each", 10, "writes that go together as one; fewer are more exact and take longer")
	flags.Uint64Var(&f.Seed, "seed", 1, "all follows from it")
	flags.StringVar(&f.html, "html", "", "also write a page with charts to this file")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything runs.
func (f *esdbFlags) check() error {
	return errors.Join(f.Validate(), outfile.Check(nil,
		jsonOf(f.name, f.json), pageTo(f.html)))
}

func (f *esdbFlags) run(ctx context.Context, out io.Writer) error {
	report := newReport("esdb")
	if err := f.Run(ctx, report); err != nil {
		return err
	}
	if err := f.write(out, report); err != nil || f.html == "" {
		return err
	}
	about := []string{time.Now().UTC().Format(time.DateOnly), measure.Machine()}
	return pageTo(f.html).Write(func(w io.Writer) error { return f.WritePage(w, report, about) })
}
