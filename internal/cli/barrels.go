//go:build cgo

package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/internal/node/offline"
	"adshard/internal/progress"
)

func barrelsCommand(s Streams) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "barrels",
		Short: "Make the slaves' stores offline",
		Long: `Builds the slaves' stores offline, much faster than slaves fill themselves from a
running balancer.`,
	})
	c.AddCommand(barrelsBuildCommand(s))
	return c
}

func barrelsBuildCommand(s Streams) *cobra.Command {
	f := offline.DefaultConfig()
	c := &cobra.Command{
		Use:   "build --db URL --out DIR",
		Short: "Build complete stores from the database, one for each slave",
		Long: `Builds complete stores from the database, one for each slave, placed by the same
strategy as in a running cluster. A slave started on such a store continues from
there: it applies the changes made since. Use it for the first fill of a large
database.`,
		Example: `  adshard barrels build --db sqlite:ads.db --slaves 3 --out built
  adshard up --db sqlite:ads.db --slaves 3 --barrels built`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return buildBarrels(c.Context(), &f, s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.DB, "db", f.DB, databaseHelp)
	flags.IntVar(&f.Slaves, "slaves", f.Slaves, keyHelp["slaves"])
	flags.IntVar(&f.Replicas, "replicas", f.Replicas, keyHelp["replicas"])
	flags.StringVar(&f.Strategy, "strategy", f.Strategy, keyHelp["strategy"])
	flags.StringVar(&f.Order, "order", f.Order, "the order of ad groups on the ring: hash or advertiser (required by the strategy original)")
	flags.StringVar(&f.Out, "out", f.Out, "the directory in which slave-0, slave-1, … are created")
	return c
}

func buildBarrels(ctx context.Context, f *offline.Config, s Streams) error {
	if err := checkDatabase(f.DB); err != nil {
		return err
	}
	if err := f.Validate(); err != nil {
		return &usageError{err}
	}
	bar := progress.OnTerminal(s.Err)
	built, err := offline.Build(ctx, *f, func(done, total uint64) {
		bar.Count("keywords", done, total, grouped)
	})
	bar.End()
	if err != nil {
		return err
	}
	t := newTable(s.Out, "STORE", "SLICES", "GROUPS", "KEYWORDS")
	for _, b := range built.Stores {
		t.row(b.Dir, strconv.Itoa(b.Slices), strconv.FormatUint(b.Groups, 10), strconv.FormatUint(b.Keywords, 10))
	}
	if err := t.flush(); err != nil {
		return err
	}
	rate := float64(built.Keywords) / max(built.Took.Seconds(), 1e-9)
	_, err = fmt.Fprintf(s.Out, "%d keywords of %d groups in %.1f s (%.0f keywords/s); heaviest slave over mean %.2f; clock %d\n",
		built.Keywords, built.Groups, built.Took.Seconds(), rate, built.MaxOverMean, built.Clock)
	return err
}
