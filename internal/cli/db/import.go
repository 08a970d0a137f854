package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/database"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

type importFlags struct {
	db, format, advertiser, rejects, conflicts string
	force, dryRun, explain, json               bool
}

// ImportCommand returns the command that imports files.
func ImportCommand(s cmdline.Streams) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import --db URL FILE...",
		Short: "Import advertisers' data into the database",
		Long: `Imports advertisers, campaigns, ad groups, keywords, negatives and ads into the
database, from Google Ads Editor exports (CSV or TSV, UTF-8 or UTF-16, detected
from the file) or from JSON lines. - stands for standard input.

Rows with errors are rejected, each with its row, column and reason. Rows of kinds that
are not imported (audiences, placements, assets and the like) are skipped. All others are
imported. A second run of the same file changes nothing. A running cluster applies the
changes within a second. No other program opens a new database before its first import is
complete: one that was killed is completed by running it again. While another import writes the same, or the database is away (a
failover), the import waits for up to two minutes and then goes on where it was. Any
number of imports may run at once on PostgreSQL; on SQLite they take turns.

--dry-run imports into a copy of the database, in the directory for temporary files
(TMPDIR), and shows what would be created, changed and removed.

--explain reads only the files, without a database, and shows what each column is read
as, what is not used, and the kinds of rows with the first of each.

Exit status: 0 no row was rejected; 1 the import failed; 2 invalid arguments; 3 some rows
were rejected.`,
		Example: `  adshard import --db sqlite:ads.db export.csv
  adshard import --db sqlite:ads.db --advertiser Acme --rejects rejects.tsv *.csv
  adshard import --explain export.csv
  adshard import --db sqlite:ads.db --dry-run export.csv
  zcat data.jsonl.gz | adshard import --db sqlite:ads.db --format jsonl -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdline.WrongUse("name at least one file, or - for standard input")
			}
			return nil
		},
		RunE: func(c *cobra.Command, files []string) error {
			if f.explain {
				return explainFiles(c.Context(), &f, files, s)
			}
			return runImport(c.Context(), &f, files, s)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.db, "db", "", cmdline.DatabaseHelp+"; created if it is missing")
	flags.StringVar(&f.format, "format", "auto", "editor, jsonl or auto: detected from each file")
	flags.StringVar(&f.advertiser, "advertiser", "", "the account of files that have no column for it")
	flags.StringVar(&f.rejects, "rejects", "", "write the rejected rows to this file: file, row, column, reason")
	flags.StringVar(&f.conflicts, "conflicts", "", "write the negatives that block their own advertiser's keywords to this file")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be created, changed and removed, entity by entity, and change nothing")
	flags.BoolVar(&f.explain, "explain", false, "show how the files are read: columns, what is not used, kinds of rows; without a database")
	flags.BoolVar(&f.json, "json", false, "print JSON, one object a line: the differences of --dry-run, then the summary")
	flags.BoolVar(&f.force, "force", false, "let --rejects and --conflicts replace a file that is not a report of an earlier import")
	cmdline.WithoutVariable(flags, "force")
	return c
}

func runImport(ctx context.Context, f *importFlags, files []string, s cmdline.Streams) error {
	format, err := ingest.ParseFormat(f.format)
	if err != nil {
		return cmdline.Usage(err)
	}
	if _, err := cmdline.DatabasePath(f.db); err != nil {
		return err
	}
	if err := cmdline.Readable(files); err != nil {
		return err // before a database is created
	}
	bar := progress.OnTerminal(s.Err)
	reports, err := openReports(f, files)
	if err != nil {
		return err
	}
	options := importOptions(f, format, reports, bar, s)
	path, _ := cmdline.DatabasePath(f.db)
	missing := !f.dryRun && path != "" && !cmdline.Exists(path)
	making := database.Import(f.db, files, f.advertiser)
	var store backend.Store
	if f.dryRun {
		store, err = database.OpenScratch(ctx, f.db)
	} else {
		store, err = database.Make(ctx, f.db, making, s.Warn)
	}
	if err != nil {
		for _, r := range reports.list() {
			r.discard()
		}
		return err
	}
	if missing {
		fmt.Fprintf(s.Err, "database %s did not exist; created\n", path)
	}
	start := time.Now()
	sum, err := importInto(ctx, f, store, files, options, bar, s)
	if !f.dryRun {
		err = finish(ctx, store, making, err)
	}
	if e := store.Close(); err == nil {
		err = e
	}
	if err == nil && !f.dryRun {
		if part := unfinished(ctx, f.db); part != nil {
			fmt.Fprintf(s.Err, "warning: this import is done, and the database is not whole yet: %v\n", part)
		}
	}
	err = reports.finish(err)
	if e := showSummary(s, f, &sum, time.Since(start)); err == nil {
		err = e
	}
	if err == nil && sum.Rejected > 0 {
		return cmdline.ErrRejects
	}
	return err
}

// importOptions returns the options of an import whose progress is shown on bar and s.
func importOptions(f *importFlags, format ingest.Format, reports importReports, bar *progress.Line, s cmdline.Streams) ingest.Options {
	o := ingest.Options{
		Format: format, Advertiser: f.advertiser, Stdin: s.In,
		Repeating: func(err error) {
			bar.End()
			fmt.Fprintf(s.Err, "%s; it is tried again, for up to %v\n", terminal.Printable(fault.Cause(err)), ingest.DefaultPatience)
		},
		Progress: func(p ingest.Progress) {
			bar.Count(terminal.Printable(p.File), uint64(p.Bytes), uint64(max(0, p.Size)), terminal.Size)
		},
	}
	if reports.rejects != nil {
		o.Rejects = reports.rejects
	}
	if reports.conflicts != nil {
		o.Conflicts = reports.conflicts
	}
	return o
}

// finish marks the database as complete after an import that ended with err, if everything or nothing was imported.
func finish(ctx context.Context, store backend.Store, m backend.Making, err error) error {
	if err == nil {
		return store.Finish(ctx, m)
	}
	if n, e := store.Counts(ctx); e != nil || n != (backend.Counts{}) {
		return err
	}
	return errors.Join(err, store.Finish(ctx, m))
}

// importInto imports files into store. With --dry-run the store is a copy, and the differences that the import made
// in it are shown.
func importInto(ctx context.Context, f *importFlags, store backend.Store, files []string, o ingest.Options, bar *progress.Line, s cmdline.Streams) (ingest.Summary, error) {
	if !f.dryRun {
		sum, err := ingest.Run(ctx, store, files, o)
		bar.End()
		return sum, err
	}
	w := newDifferenceWriter(s.Out, f.json)
	sum, err := ingest.DryRun(ctx, store, files, o, func(d *ingest.Difference) error {
		bar.End()
		return w.write(d)
	})
	bar.End()
	return sum, cmp.Or(err, w.out.Flush())
}

// importReports are the reports that an import writes to files. A report is nil if it was not requested.
type importReports struct{ rejects, conflicts *report }

// openReports opens the requested reports. It returns an error before it creates anything if a report cannot or must
// not be written.
func openReports(f *importFlags, inputs []string) (r importReports, err error) {
	path, err := cmdline.DatabasePath(f.db)
	if err != nil {
		return r, err
	}
	kept := slices.Concat(outfile.Inputs(inputs...), outfile.Database(path))
	if err := outfile.Check(kept, rejectsTo(f), conflictsTo(f)); err != nil {
		return r, cmdline.Refused(err)
	}
	if r.rejects, err = openReport(rejectsTo(f), kept); err == nil {
		r.conflicts, err = openReport(conflictsTo(f), kept)
	}
	if err != nil {
		for _, made := range r.list() {
			made.discard()
		}
		return importReports{}, err
	}
	return r, nil
}

// openReport begins a report. It returns nil if the report was not requested.
func openReport(o outfile.Output, kept []outfile.Kept) (*report, error) {
	if o.Path == "" {
		return nil, nil
	}
	f, err := o.Create(kept)
	if err != nil {
		return nil, err
	}
	return &report{f}, nil
}

func (r importReports) list() []*report {
	return slices.DeleteFunc([]*report{r.rejects, r.conflicts}, func(r *report) bool { return r == nil })
}

// finish gives the complete reports their names. After an error these are the rejects up to the error, but no report
// of conflicts.
func (r importReports) finish(err error) error {
	if r.rejects != nil {
		err = cmp.Or(err, r.rejects.publish())
	}
	switch {
	case r.conflicts == nil:
	case err == nil:
		err = r.conflicts.publish()
	default:
		r.conflicts.discard()
	}
	return err
}
