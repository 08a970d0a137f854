package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/backend/sqlite"
	"adshard/bench/freshness"
)

type freshFlags struct {
	db, addr, admin string
	changes         int
	patience        time.Duration
	seed            uint64
	output
}

// FreshCommand returns the subcommand fresh, which measures how soon changes
// appear in the answers of a running cluster.
func FreshCommand() *cobra.Command {
	var f freshFlags
	c := &cobra.Command{
		Use:   "fresh --db URL",
		Short: "Measure how soon committed changes are in the answers",
		Long: `Measures how long a change takes from its commit in the database (or from the
admin port's answer) until the answers of a running cluster show it: new
keywords, bids, groups paused and enabled, budgets exhausted.

It writes two advertisers of its own into the database, on a word that no one
else has, and removes them at the end.`,
		Example: `  adbench fresh --db sqlite:ads.db`,
		Args:    f.check,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.db, "db", "", "the cluster's database: sqlite:PATH (required)")
	flags.StringVar(&f.addr, "addr", "http://127.0.0.1:8080", "where queries go")
	flags.StringVar(&f.admin, "admin", "http://127.0.0.1:8081", "the admin port")
	flags.IntVar(&f.changes, "changes", 50, "changes of each kind")
	flags.DurationVar(&f.patience, "patience", 10*time.Second, "give up when a change takes longer")
	flags.Uint64Var(&f.seed, "seed", 1, "decides the pauses between changes")
	f.output.flags(c)
	return c
}

// check returns an error, before anything is changed, if the report cannot be
// written.
func (f *freshFlags) check(c *cobra.Command, args []string) error {
	if err := f.output.check(strings.TrimPrefix(f.db, "sqlite:")); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *freshFlags) run(ctx context.Context, out io.Writer) (err error) {
	path, ok := strings.CutPrefix(f.db, "sqlite:")
	if !ok || path == "" {
		return errors.New("--db: name the cluster's database, for example --db sqlite:ads.db")
	}
	if f.changes < 1 || f.changes > 100_000 || f.patience <= 0 {
		return errors.New("--changes is 1 to 100,000, --patience positive")
	}
	store, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	report := newReport("fresh")
	kinds, err := freshness.Run(ctx, freshness.Config{
		Store: store, Search: address(f.addr), Admin: address(f.admin),
		Changes: f.changes, Patience: f.patience, Seed: f.seed,
	})
	if err != nil {
		return err
	}
	for _, k := range kinds {
		s := k.Took.Spread()
		report.Add(k.Name+", median", "ms", s.Median/1000)
		report.Add(k.Name+", max", "ms", s.Max/1000)
	}
	report.Note("%d changes of each kind, one after the other at irregular times", f.changes)
	return f.write(out, report)
}

// address returns a URL for HOST:PORT or a URL.
func address(a string) string {
	if !strings.Contains(a, "://") {
		a = fmt.Sprintf("http://%s", a)
	}
	return strings.TrimSuffix(a, "/")
}
