package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adshard/backend/sqlite"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/collector"
	"adshard/internal/node/database"
	"adshard/internal/progress"
)

// BackupCommand returns the command that copies a database.
func BackupCommand(s cmdline.Streams) *cobra.Command {
	var db, out, events string
	var o cmdline.Outcome
	c := &cobra.Command{
		Use:   "backup --db sqlite:PATH --out DIR",
		Short: "Back up the database while everything runs",
		Long: `Copies the database, as it is at one moment, into a new directory: the file ads.db and a
manifest.json with the database's id, the newest change in it, its size and SHA-256. A cluster
and imports may go on meanwhile. All of the copy is checked like "adshard db check" does; the
directory appears when it is whole and on disk.

Events that collectors have counted are copied, too, if the file PATH-events is there (--events
names another one): as events.db, of the same moment, for which collectors wait some
milliseconds. A file with events of another database is refused.

A database on PostgreSQL is backed up with PostgreSQL's own tools (pg_dump, pg_basebackup):
see docs/operations/backup.md.

Exit status: 0 done; 1 the backup failed, and there is none; 2 invalid arguments.`,
		Example: `  adshard backup --db sqlite:ads.db --out backups/monday
  adshard backup --db sqlite:ads.db --events none --out backups/monday  without events
  adshard restore --from backups/monday --db sqlite:ads.db --replace`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runBackup(c.Context(), db, events, out, o, s) },
	}
	c.Flags().StringVar(&db, "db", "", "the database: sqlite:PATH")
	c.Flags().StringVar(&events, "events", "", "the file of events, sqlite:PATH, or none; \"\": PATH-events of the database, if it is there")
	c.Flags().StringVar(&out, "out", "", "the directory to make, with those above it")
	o.Flag(c)
	return c
}

// RestoreCommand returns the command that restores a copy.
func RestoreCommand(s cmdline.Streams) *cobra.Command {
	var db, from, events string
	var replace bool
	var o cmdline.Outcome
	c := &cobra.Command{
		Use:   "restore --from DIR --db sqlite:PATH",
		Short: "Put the database of a backup in place",
		Long: `Copies the database of a backup made by "adshard backup" to PATH, after it has compared the
copy with the backup's manifest and checked all of it. If there is a database already, nothing
happens without --replace; with --replace it is renamed to PATH.replaced-TIME, and the restored
one gets its owner and permissions. PATH must be on a file system with hard links.

A running cluster follows: the balancer notices that the database has gone back, and slaves are
compared with it and refilled where they differ. Imports that run meanwhile fail. Other
programs that use the file (sqlite3) must have ended.

Events in the backup are put into PATH-events (--events names another file), in the same way.
Collectors must have ended: one that runs refuses all events until it is started again. What
was counted since the backup is lost with it.

Exit status: 0 done; 1 the restore failed, and the database is as before or under the name
printed; 2 invalid arguments.`,
		Example: `  adshard restore --from backups/monday --db sqlite:ads.db
  adshard restore --from backups/monday --db sqlite:ads.db --replace`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return runRestore(c.Context(), from, db, events, replace, o, s)
		},
	}
	c.Flags().StringVar(&db, "db", "", "the database: sqlite:PATH")
	c.Flags().StringVar(&from, "from", "", "the backup")
	c.Flags().StringVar(&events, "events", "", "the file for events, sqlite:PATH, or none; \"\": PATH-events of the database, if the backup has events")
	c.Flags().BoolVar(&replace, "replace", false, "put it in the place of the database at PATH, which is kept beside it")
	o.Flag(c)
	cmdline.WithoutVariable(c.Flags(), "replace")
	return c
}

// backupPath returns the path of a database that these commands can copy or restore.
func backupPath(db string) (string, error) {
	path, err := cmdline.DatabasePath(db)
	if err == nil && path == "" {
		err = cmdline.WrongUse("--db: a database on a server is backed up with its own tools, pg_dump or pg_basebackup (docs/operations/backup.md)")
	}
	return path, err
}

// noEvents is the value of --events that leaves events out.
const noEvents = "none"

// eventsPath returns the path of the file of events: the one that --events names, or the one next to the database.
func eventsPath(given, db string) (path string, err error) {
	switch {
	case given == noEvents:
		return "", nil
	case given == "":
		given = collector.EventsOf(db)
	}
	path, ok := strings.CutPrefix(given, "sqlite:")
	if !ok || path == "" {
		return "", cmdline.WrongUse("--events: write sqlite:PATH, or none; events on a server are backed up with its own tools")
	}
	return path, nil
}

func runBackup(ctx context.Context, db, given, out string, o cmdline.Outcome, s cmdline.Streams) error {
	if out == "" {
		return cmdline.WrongUse("--out is missing: name a directory to make")
	}
	path, err := backupPath(db)
	if err == nil {
		err = cmdline.CheckDatabase(db)
	}
	if err != nil {
		return err
	}
	events, err := eventsPath(given, db)
	if err != nil {
		return err
	}
	if events != "" && !cmdline.Exists(events) {
		if given != "" {
			return cmdline.WrongUse("there are no events at %s", events)
		}
		events = ""
	}
	bar := progress.OnTerminal(s.Err)
	m, err := database.Backup(ctx, path, events, out, steps(bar))
	bar.End()
	if err != nil {
		return err
	}
	with := ""
	if m.Events != nil {
		with = ", events " + terminal.Size(uint64(m.Events.Size))
	}
	return o.Print(s, backupJSON{out, m}, func() error {
		_, err := fmt.Fprintf(s.Out, "backed up %v, %s, %s%s, into %s; no damage\n", m, terminal.Many(m.Counts.Keywords, "keyword"), terminal.Size(uint64(m.Size)), with, terminal.Printable(out))
		return err
	})
}

type backupJSON struct {
	Directory string           `json:"directory"`
	Manifest  *sqlite.Manifest `json:"manifest"`
}

type restoredJSON struct {
	Manifest   *sqlite.Manifest `json:"manifest"`
	Events     bool             `json:"events"`
	Kept       string           `json:"kept,omitempty"` // the present path of the database that was there before
	KeptEvents string           `json:"kept_events,omitempty"`
}

func runRestore(ctx context.Context, from, db, given string, replace bool, o cmdline.Outcome, s cmdline.Streams) error {
	if from == "" {
		return cmdline.WrongUse("--from is missing: name the directory of a backup")
	}
	path, err := backupPath(db)
	if err != nil {
		return err
	}
	events, err := eventsPath(given, db)
	if err != nil {
		return err
	}
	if given == "" {
		if m, err := sqlite.ReadManifest(from); err == nil && m.Events == nil {
			events = "" // if it is not a backup at all, Restore says so
		}
	}
	bar := progress.OnTerminal(s.Err)
	r, err := database.Restore(ctx, from, path, events, replace, steps(bar))
	bar.End()
	if r != nil && r.Kept != "" { // perhaps also if there is an error
		fmt.Fprintf(s.Err, "the database that was there is now %s\n", terminal.Printable(r.Kept))
	}
	if r != nil && r.KeptEvents != "" {
		fmt.Fprintf(s.Err, "the events that were there are now %s\n", terminal.Printable(r.KeptEvents))
	}
	if err != nil {
		return err
	}
	with := ""
	if r.Events {
		with = ", events"
	}
	return o.Print(s, restoredJSON{r.Manifest, r.Events, r.Kept, r.KeptEvents}, func() error {
		_, err := fmt.Fprintf(s.Out, "restored %v, %s%s\n", r.Manifest, terminal.Many(r.Manifest.Counts.Keywords, "keyword"), with)
		return err
	})
}

// steps returns a function that shows the steps of a backup.
func steps(bar *progress.Line) func(what string, done, total int64) {
	return func(what string, done, total int64) { bar.Count(what, uint64(done), uint64(total), terminal.Grouped) }
}
