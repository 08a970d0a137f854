package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"adshard/backend"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/database"
	"adshard/internal/progress"
)

// DBCommand returns the commands that check, move and describe databases.
func DBCommand(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "db",
		Short: "Check, copy and prepare databases",
		Long:  "Maintains the database of advertisers' data.",
	})
	c.AddCommand(dbCheckCommand(s), dbMigrateCommand(s), dbRolesCommand(s), dbWordsCommand(s))
	return c
}

func dbCheckCommand(s cmdline.Streams) *cobra.Command {
	var db string
	var asJSON bool
	c := &cobra.Command{
		Use:   "check --db URL",
		Short: "Find damage in the database",
		Long: `Reads the whole database and lists what is damaged. It compares each advertiser,
campaign and ad group with the checksum that was stored when it was written, compares
the log of changes with both, and makes SQLite check the structure of the file. A
database that was not made to its end (a killed import or migration) is damaged. It
changes nothing, and a cluster may run meanwhile. A file that cannot be written to is copied
first, with its log, into the directory for temporary files (TMPDIR). Run it after a crash of the machine or
a restored backup; backups can be checked in the same way.

Entities that another program has changed have no checksum until a balancer or an
import has seen the change: they are counted, but their content cannot be checked.

Exit status: 0 no damage; 1 damage was found or the check failed; 2 invalid arguments.`,
		Example: `  adshard db check --db sqlite:ads.db
  adshard db check --db sqlite:ads.db --json | jq '.damage[]'`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDBCheck(c.Context(), db, asJSON, s) },
	}
	c.Flags().StringVar(&db, "db", "", cmdline.DatabaseHelp)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// errDamaged is returned after a check that found and listed damage; the exit status is 1.
var errDamaged = errors.New("the database is damaged: restore it from a backup")

func runDBCheck(ctx context.Context, url string, asJSON bool, s cmdline.Streams) (err error) {
	if err := cmdline.CheckDatabase(url); err != nil {
		return err
	}
	store, err := database.OpenToCheck(ctx, url)
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
		return cmdline.WrongUse("--db %s: a database of this kind cannot be checked", url)
	}
	bar := progress.OnTerminal(s.Err)
	report, err := checker.Check(ctx, steps(bar))
	bar.End()
	if err != nil {
		return err
	}
	if err := showCheck(s, report, asJSON); err != nil {
		return err
	}
	switch len(report.Damage) {
	case 0:
		return nil
	case 1:
		if err := unfinished(ctx, url); err != nil {
			return err
		}
	}
	return errDamaged
}

// unfinished returns an error if the creation of the database has not finished, so that other programs refuse it, or
// nil.
func unfinished(ctx context.Context, url string) error {
	_, _, err := database.Probe(ctx, url)
	if part := new(*backend.Unfinished); errors.As(err, part) {
		return err
	}
	return nil
}

func showCheck(s cmdline.Streams, report *backend.CheckReport, asJSON bool) error {
	if asJSON {
		return cmdline.PrintJSON(s, report)
	}
	for _, d := range report.Damage {
		fmt.Fprintln(s.Out, terminal.Printable(d.Error()))
	}
	n := report.Counts
	fmt.Fprintf(s.Out, "read %s, %s, %s, %s, %s and %s; ", terminal.Many(n.Advertisers, "advertiser"), terminal.Many(n.Campaigns, "campaign"),
		terminal.Many(n.Groups, "ad group"), terminal.Many(n.Keywords, "keyword"), terminal.Many(n.Negatives, "negative"), terminal.Many(n.Ads, "ad"))
	if report.ByOthers > 0 {
		fmt.Fprintf(s.Out, "%s changed by another program have no checksum yet; ", terminal.Grouped(report.ByOthers))
	}
	if len(report.Damage) == 0 {
		_, err := fmt.Fprintln(s.Out, "no damage")
		return err
	}
	_, err := fmt.Fprintf(s.Out, "damage: %d\n", len(report.Damage))
	return err
}
