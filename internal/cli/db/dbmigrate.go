package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adshard/backend"
	"adshard/backend/postgres"
	"adshard/backend/transfer"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/database"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

func dbMigrateCommand(s cmdline.Streams) *cobra.Command {
	var from, to string
	var o cmdline.Outcome
	c := &cobra.Command{
		Use:   "migrate --from URL --to URL",
		Short: "Copy a database to a new one, from SQLite to PostgreSQL or back",
		Long: `Copies all advertisers, campaigns, ad groups, keywords, negatives and ads, with budgets'
marks, as they are at the start. The target is made if it is missing, and must be empty.
No other program opens it before it is complete. After a migration that was killed, remove what
it has made, and migrate again. The source is only read; what is imported into it meanwhile is not copied.

The target is a database of its own: it has other ids and begins its log anew. Start
the cluster on it with empty data directories, or build the stores offline
("adshard barrels build").`,
		Example: `  adshard db migrate --from sqlite:ads.db --to postgres://owner@db1/ads`,
		Args:    cmdline.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runDBMigrate(c.Context(), from, to, o, s) },
	}
	c.Flags().StringVar(&from, "from", "", cmdline.DatabaseHelp)
	c.Flags().StringVar(&to, "to", "", "the new database")
	o.Flag(c)
	return c
}

func runDBMigrate(ctx context.Context, from, to string, o cmdline.Outcome, s cmdline.Streams) (err error) {
	if from == "" || to == "" {
		return cmdline.WrongUse("--from and --to are needed: name both databases")
	}
	if err := cmdline.CheckDatabase(from); err != nil {
		return err
	}
	path, err := cmdline.DatabasePath(to)
	if err != nil {
		return err
	}
	if of, is := strings.CutPrefix(from, "sqlite:"); is && path != "" && outfile.Same(of, path) {
		return cmdline.WrongUse("--to %s is the database of --from: name a new one", to)
	}
	source, err := database.OpenReading(ctx, from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	making := database.Migration(to)
	target, err := database.Make(ctx, to, making, s.Warn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	bar := progress.OnTerminal(s.Err)
	n, err := transfer.Copy(ctx, source, target, making, func(done, total uint64) { bar.Count("ad groups", done, total, terminal.Grouped) })
	bar.End()
	if err != nil {
		return err
	}
	return o.Print(s, copiedJSON{n}, func() error {
		_, err := fmt.Fprintf(s.Out, "copied %s, %s, %s, %s, %s and %s\n", terminal.Many(n.Advertisers, "advertiser"), terminal.Many(n.Campaigns, "campaign"),
			terminal.Many(n.Groups, "ad group"), terminal.Many(n.Keywords, "keyword"), terminal.Many(n.Negatives, "negative"), terminal.Many(n.Ads, "ad"))
		return err
	})
}

type copiedJSON struct {
	Copied backend.Counts `json:"copied"`
}

func dbRolesCommand(s cmdline.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "roles",
		Short: "Print SQL that makes PostgreSQL roles with the least privileges",
		Long: `Prints SQL for the owner of the schema, which makes adshard_import (imports), adshard_serve
(balancer, up), adshard_read (distributors, barrels build) and adshard_collect (collectors). Logins are granted one of them.`,
		Example: "  adshard db roles | psql postgres://owner@db1/ads",
		Args:    cmdline.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(s.Out, postgres.Roles)
			return err
		},
	}
}
