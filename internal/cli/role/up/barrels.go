//go:build cgo

package up

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/offline"
	"adshard/internal/progress"
)

// Barrels returns the commands that build slaves' stores offline.
func Barrels(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "barrels",
		Short: "Make the slaves' stores offline",
		Long: `Builds the slaves' stores offline, much faster than slaves fill themselves from a
running balancer.`,
	})
	c.AddCommand(barrelsBuildCommand(s))
	return c
}

func barrelsBuildCommand(s cmdline.Streams) *cobra.Command {
	f := offline.DefaultConfig()
	var o cmdline.Outcome
	c := &cobra.Command{
		Use:   "build --db URL --out DIR",
		Short: "Build complete stores from the database, one for each slave",
		Long: `Builds complete stores from the database, one for each slave, placed by the same
strategy as in a running cluster. A slave started on such a store continues from
there: it applies the changes made since. Use it for the first fill of a large
database.`,
		Example: `  adshard barrels build --db sqlite:ads.db --slaves 3 --out built
  adshard up --db sqlite:ads.db --slaves 3 --barrels built`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return buildBarrels(c.Context(), &f, o, s) },
	}
	o.Flag(c)
	flags, help := c.Flags(), cmdline.KeyHelp(nil)
	flags.StringVar(&f.DB, "db", f.DB, cmdline.DatabaseHelp)
	flags.IntVar(&f.Slaves, "slaves", f.Slaves, "the number of slaves")
	flags.IntVar(&f.Replicas, "replicas", f.Replicas, help["replicas"])
	flags.StringVar(&f.Strategy, "strategy", f.Strategy, help["strategy"])
	flags.StringVar(&f.Order, "order", f.Order, "the order of ad groups on the ring: hash, advertiser (required by the strategy original) or id")
	flags.TextVar(&f.Languages, "languages", f.Languages, help["languages"])
	flags.StringVar(&f.Out, "out", f.Out, "the directory in which slave-0, slave-1, … are created")
	return c
}

func buildBarrels(ctx context.Context, f *offline.Config, o cmdline.Outcome, s cmdline.Streams) error {
	if err := cmdline.CheckDatabase(f.DB); err != nil {
		return err
	}
	if err := f.Validate(); err != nil {
		return cmdline.Usage(err)
	}
	bar := progress.OnTerminal(s.Err)
	built, err := offline.Build(ctx, *f, func(done, total uint64) {
		bar.Count("keywords", done, total, terminal.Grouped)
	})
	bar.End()
	if err != nil {
		return err
	}
	return o.Print(s, storesOf(built), func() error { return showStores(s, built) })
}

func showStores(s cmdline.Streams, built *offline.Summary) error {
	t := terminal.NewTable(s.Out, "STORE", "SLICES", "GROUPS", "KEYWORDS")
	for _, b := range built.Stores {
		t.Row(b.Dir, strconv.Itoa(b.Slices), strconv.FormatUint(b.Groups, 10), strconv.FormatUint(b.Keywords, 10))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	rate := float64(built.Keywords) / max(built.Took.Seconds(), 1e-9)
	_, err := fmt.Fprintf(s.Out, "%d keywords of %d groups in %.1f s (%.0f keywords/s); heaviest slave over mean %.2f; clock %d\n",
		built.Keywords, built.Groups, built.Took.Seconds(), rate, built.MaxOverMean, built.Clock)
	return err
}

type storesJSON struct {
	Stores      []storeJSON `json:"stores"`
	Groups      uint64      `json:"groups"` // without replicas, like Keywords
	Keywords    uint64      `json:"keywords"`
	Clock       uint64      `json:"clock"`
	MaxOverMean float64     `json:"max_over_mean"`
	Seconds     float64     `json:"seconds"`
}

type storeJSON struct {
	Directory string `json:"directory"`
	Slices    int    `json:"slices"`
	Groups    uint64 `json:"groups"`
	Keywords  uint64 `json:"keywords"`
}

func storesOf(built *offline.Summary) storesJSON {
	v := storesJSON{[]storeJSON{}, built.Groups, built.Keywords, built.Clock, built.MaxOverMean, built.Took.Seconds()}
	for _, b := range built.Stores {
		v.Stores = append(v.Stores, storeJSON{b.Dir, b.Slices, b.Groups, b.Keywords})
	}
	return v
}
