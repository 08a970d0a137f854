package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"adshard/backend"
	"adshard/internal/node/database"
	"adshard/internal/progress"
)

func dbCommand(s Streams) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "db",
		Short: "Check the database for damage",
		Long:  "Looks after the database that holds advertisers' data.",
	})
	c.AddCommand(dbCheckCommand(s))
	return c
}

func dbCheckCommand(s Streams) *cobra.Command {
	var db string
	var asJSON bool
	c := &cobra.Command{
		Use:   "check --db URL",
		Short: "Find damage in the database",
		Long: `Reads the whole database and lists what is damaged. It compares each advertiser,
campaign and ad group with the sum that was stored when it was written, compares the
log of changes with both, and has SQLite check the structure of the file. It changes
nothing, and a cluster may run meanwhile. Backups can be checked in the same way.

What another program has changed has no sum until a balancer or an import has seen
the change: it is counted, and its content cannot be checked.

Exit status: 0 no damage, 1 damage was found or the check failed, 2 wrong use.`,
		Example: `  adshard db check --db sqlite:ads.db
  adshard db check --db sqlite:ads.db --json | jq '.damage[]'`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDBCheck(c.Context(), db, asJSON, s) },
	}
	c.Flags().StringVar(&db, "db", "", databaseHelp)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// errDamaged is a check that found damage, which it has shown: exit status 1.
var errDamaged = errors.New("the database is damaged: restore it from a backup")

func runDBCheck(ctx context.Context, url string, asJSON bool, s Streams) (err error) {
	if err := checkDatabase(url); err != nil {
		return err
	}
	store, err := database.Open(ctx, url, false)
	if err != nil {
		return err
	}
	defer func() {
		if closed := store.Close(); err == nil {
			err = closed
		}
	}()
	checker, ok := store.(backend.Checker)
	if !ok {
		return wrongUse("--db %s: a database of this kind cannot be checked", url)
	}
	bar := progress.OnTerminal(s.Err)
	report, err := checker.Check(ctx, func(what string, done, total int64) { bar.Count(what, uint64(done), uint64(total), grouped) })
	bar.End()
	if err != nil {
		return err
	}
	if err := showCheck(s, report, asJSON); err != nil {
		return err
	}
	if len(report.Damage) > 0 {
		return errDamaged
	}
	return nil
}

func showCheck(s Streams, report *backend.CheckReport, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(s.Out)
		e.SetIndent("", "  ")
		return e.Encode(report)
	}
	for _, d := range report.Damage {
		fmt.Fprintln(s.Out, printable(d.Error()))
	}
	n := report.Counts
	fmt.Fprintf(s.Out, "%s, %s, %s, %s, %s and %s were read; ", many(n.Advertisers, "advertiser"), many(n.Campaigns, "campaign"),
		many(n.Groups, "ad group"), many(n.Keywords, "keyword"), many(n.Negatives, "negative"), many(n.Ads, "ad"))
	if report.ByOthers > 0 {
		fmt.Fprintf(s.Out, "%s without a sum yet, changed by another program; ", grouped(report.ByOthers))
	}
	if len(report.Damage) == 0 {
		_, err := fmt.Fprintln(s.Out, "all is well")
		return err
	}
	_, err := fmt.Fprintf(s.Out, "damage: %d\n", len(report.Damage))
	return err
}
