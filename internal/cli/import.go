package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"adshard/ingest"
	"adshard/internal/node"
)

type importFlags struct {
	db, format, advertiser, rejects, conflicts string
	force                                      bool
}

func importCommand(s Streams) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import --db URL FILE...",
		Short: "Take advertisers' data into the database",
		Long: `Takes advertisers, campaigns, ad groups, keywords, negatives and ads into the
database, from Google Ads Editor exports (CSV or TSV, UTF-8 or UTF-16, found out
from the file) or from JSON lines. - stands for standard input.

Rows that cannot be taken are rejected, each with its row, column and reason; all
others are in. A second run of the same file changes nothing, and a running
cluster follows within a second.

Exit status: 0 all rows are in, 1 failed, 2 wrong use, 3 some rows were rejected.`,
		Example: `  adshard import --db sqlite:ads.db export.csv
  adshard import --db sqlite:ads.db --advertiser Acme --rejects rejects.tsv *.csv
  zcat data.jsonl.gz | adshard import --db sqlite:ads.db --format jsonl -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return wrongUse("name at least one file, or - for standard input")
			}
			return nil
		},
		RunE: func(c *cobra.Command, files []string) error { return runImport(c.Context(), &f, files, s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.db, "db", "", databaseHelp+"; made if it is missing")
	flags.StringVar(&f.format, "format", "auto", "editor, jsonl or auto: found out from each file")
	flags.StringVar(&f.advertiser, "advertiser", "", "the account of files that have no column for it")
	flags.StringVar(&f.rejects, "rejects", "", "write the rejected rows to this file: file, row, column, reason")
	flags.StringVar(&f.conflicts, "conflicts", "", "write the negatives that block their own campaign's keywords to this file")
	flags.BoolVar(&f.force, "force", false, "let --rejects and --conflicts replace a file that is no report of an earlier import")
	return c
}

func runImport(ctx context.Context, f *importFlags, files []string, s Streams) error {
	format, err := ingest.ParseFormat(f.format)
	if err != nil {
		return &usageError{err}
	}
	if _, err := databasePath(f.db); err != nil {
		return err
	}
	if err := readable(files); err != nil {
		return err // before a database is made
	}
	bar := newProgress(s.Err)
	options := ingest.Options{
		Format: format, Advertiser: f.advertiser, Stdin: s.In,
		Progress: func(p ingest.Progress) { bar.show(p.File, p.Bytes, p.Size, true) },
	}
	reports, err := openReports(ctx, f, files, s)
	if err != nil {
		return err
	}
	if reports.rejects != nil {
		options.Rejects = reports.rejects.file
	}
	if reports.conflicts != nil {
		options.Conflicts = reports.conflicts.file
	}
	if path, _ := databasePath(f.db); !exists(path) {
		fmt.Fprintf(s.Err, "there is no database %s: a new one is made\n", path)
	}
	store, err := node.OpenDB(ctx, f.db, true)
	if err != nil {
		for _, r := range reports.list() {
			r.discard()
		}
		return err
	}
	start := time.Now()
	sum, err := ingest.Run(ctx, store, files, options)
	bar.end()
	if e := store.Close(); err == nil {
		err = e
	}
	err = reports.finish(err)
	summary(s, f, &sum, time.Since(start))
	if err == nil && sum.Rejected > 0 {
		return errRejects
	}
	return err
}

// readable finds files that are not there before anything else is done.
func readable(files []string) error {
	for _, name := range files {
		if name == "-" {
			continue
		}
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory; name the files in it", name)
		}
		if err == nil && info.Mode().IsRegular() { // a pipe can be opened once only
			var file *os.File
			if file, err = os.Open(name); err == nil {
				_ = file.Close()
			}
		}
		if err != nil {
			return fmt.Errorf("cannot read the file to import: %w", err)
		}
	}
	return nil
}

// importReports are the files that an import writes beside its work; nil: not
// wanted.
type importReports struct{ rejects, conflicts *report }

// openReports opens the reports that are wanted. What cannot or may not be
// written is found before anything is made.
func openReports(ctx context.Context, f *importFlags, inputs []string, s Streams) (r importReports, err error) {
	path, err := databasePath(f.db)
	if err != nil || f.rejects == "" && f.conflicts == "" {
		return r, err
	}
	kept, err := keptFiles(inputs, path, s)
	if err != nil {
		return r, err
	}
	for _, p := range []struct {
		name string
		to   **report
	}{{f.rejects, &r.rejects}, {f.conflicts, &r.conflicts}} {
		if p.name == "" {
			continue
		}
		if *p.to, err = planReport(p.name, kept, f.force); err != nil {
			return importReports{}, err
		}
		kept = append(kept, keptFile{what: "the other report, too", path: (*p.to).path})
	}
	for i, report := range r.list() {
		if err := report.open(ctx); err != nil {
			for _, made := range r.list()[:i] {
				made.discard()
			}
			return importReports{}, err
		}
	}
	return r, nil
}

func (r importReports) list() []*report {
	return slices.DeleteFunc([]*report{r.rejects, r.conflicts}, func(r *report) bool { return r == nil })
}

// finish publishes what is whole: after an error the rejects up to it, but no
// report of conflicts.
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

// summary tells what is in; after an error, what was committed before it.
func summary(s Streams, f *importFlags, sum *ingest.Summary, took time.Duration) {
	rate := float64(sum.Rows) / max(took.Seconds(), 1e-9)
	fmt.Fprintf(s.Out, "%d rows in %.1f s (%.0f rows/s), %d rejected", sum.Rows, took.Seconds(), rate, sum.Rejected)
	if sum.ClockBefore == sum.ClockAfter {
		fmt.Fprint(s.Out, ", nothing changed")
	}
	fmt.Fprintf(s.Out, "; clock %d\n", sum.ClockAfter)
	if f.conflicts != "" {
		fmt.Fprintf(s.Out, "%d keywords are blocked by negatives of their own: %s\n", sum.Conflicts, f.conflicts)
	}
	for _, r := range sum.First {
		fmt.Fprintf(s.Err, "rejected: %v\n", r)
	}
	if more := sum.Rejected - int64(len(sum.First)); more > 0 {
		where := "--rejects FILE writes all of them"
		if f.rejects != "" {
			where = "all are in " + f.rejects
		}
		fmt.Fprintf(s.Err, "and %d more; %s\n", more, where)
	}
}
