package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"adshard/ingest/geotargets"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/database"
	"adshard/places"
)

// LocationsCommand returns the commands on the table of places.
func LocationsCommand(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "locations",
		Short: "Import and find the places that targeting names",
		Long: `The table of places says which place is in which, so that a campaign for a country is
shown in its cities, too. The 249 countries are built in.`,
	})
	c.AddCommand(locationsImportCommand(s), locationsFindCommand(s))
	return c
}

type locationsFlags struct {
	db, rejects string
	force       bool
	outcome     cmdline.Outcome
}

func locationsImportCommand(s cmdline.Streams) *cobra.Command {
	var f locationsFlags
	c := &cobra.Command{
		Use:   "import --db URL FILE",
		Short: "Import places from Google's geotargets",
		Long: `Puts the places of a file of Google's geotargets into the table of places: CSV with the
columns Criteria ID, Name, Canonical Name, Parent ID, Country Code, Target Type, Status. - stands
for standard input.

A row replaces the place of its id, of two with one id the later. Places that the file lacks stay,
since campaigns may name them. A parent may stand further down. Rows with errors are rejected,
each with its row, column and reason: one whose parent is not there, or whose parents lead in a
circle, too. What the table had under their ids stays.

The file is applied whole or not at all. A running cluster has the new table within a second;
queries that are under way are answered by the old one.

Exit status: 0 no row was rejected; 1 the import failed; 2 invalid arguments; 3 some rows were
rejected.`,
		Example: `  adshard locations import --db sqlite:ads.db geotargets.csv
  adshard locations import --db sqlite:ads.db --rejects rejects.tsv geotargets.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdline.WrongUse("name one file, or - for standard input")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return importLocations(c.Context(), &f, args[0], s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.db, "db", "", cmdline.DatabaseHelp+"; created if it is missing")
	flags.StringVar(&f.rejects, "rejects", "", "write the rejected rows to this file: file, row, column, reason")
	flags.BoolVar(&f.force, "force", false, "let --rejects replace a file that is not a report of an earlier import")
	cmdline.WithoutVariable(flags, "force")
	f.outcome.Flag(c)
	return c
}

func importLocations(ctx context.Context, f *locationsFlags, file string, s cmdline.Streams) (err error) {
	if _, err := cmdline.DatabasePath(f.db); err != nil {
		return err
	}
	if err := cmdline.Readable([]string{file}); err != nil {
		return err
	}
	reports, err := openReports(&importFlags{db: f.db, rejects: f.rejects, force: f.force}, []string{file})
	if err != nil {
		return err
	}
	o := geotargets.Options{Stdin: s.In}
	if reports.rejects != nil {
		o.Rejects = reports.rejects
	}
	sum, err := putLocations(ctx, f.db, file, o)
	err = reports.finish(err)
	if err != nil {
		return err
	}
	if err := f.outcome.Print(s, locationsJSON(&sum), func() error { return showLocations(s.Out, &sum) }); err != nil {
		return err
	}
	for _, r := range sum.First {
		fmt.Fprintf(s.Err, "rejected: %v\n", terminal.Printable(r.String()))
	}
	if more := sum.Rejected - int64(len(sum.First)); more > 0 {
		fmt.Fprintf(s.Err, "and %d more; --rejects FILE writes all of them to a file\n", more)
	}
	if sum.Rejected > 0 {
		return cmdline.ErrRejects
	}
	return nil
}

// putLocations puts a file's places into a database, which is created if it is missing.
func putLocations(ctx context.Context, url, file string, o geotargets.Options) (sum geotargets.Summary, err error) {
	store, err := database.Open(ctx, url, true)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return geotargets.Import(ctx, store, file, o)
}

func locationsJSON(sum *geotargets.Summary) any {
	return struct {
		Rows     int64  `json:"rows"`
		Rejected int64  `json:"rejected"`
		Created  int64  `json:"created"`
		Changed  int64  `json:"changed"`
		Left     int64  `json:"left"`
		Version  string `json:"locations_version"`
	}{sum.Rows, sum.Rejected, sum.Created, sum.Changed, sum.Left, sum.Version}
}

func showLocations(w io.Writer, sum *geotargets.Summary) error {
	_, err := fmt.Fprintf(w, "%s, %d rejected; places: %d created, %d changed, %d left; table %s\n",
		terminal.Many(uint64(sum.Rows), "row"), sum.Rejected, sum.Created, sum.Changed, sum.Left, sum.Version)
	return err
}

// foundLocations is the most places that a search shows.
const foundLocations = 50

func locationsFindCommand(s cmdline.Streams) *cobra.Command {
	var db string
	var o cmdline.Outcome
	c := &cobra.Command{
		Use:   "find [--db URL] WORDS...",
		Short: "Find places by words of their names",
		Long: `Lists the places whose canonical names have all words, of the last one perhaps only the
beginning, without regard to case and diacritics: places that contain many others come first.
Without --db the built-in countries are searched.`,
		Example: `  adshard locations find czech
  adshard locations find --db sqlite:ads.db prague czechia`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdline.WrongUse("give words of a place's name")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return findLocations(c.Context(), db, strings.Join(args, " "), &o, s)
		},
	}
	c.Flags().StringVar(&db, "db", "", cmdline.DatabaseHelp)
	o.Flag(c)
	return c
}

func findLocations(ctx context.Context, url, text string, o *cmdline.Outcome, s cmdline.Streams) error {
	table, err := tableOf(ctx, url, s)
	if err != nil {
		return err
	}
	found, total, err := table.Find(text, foundLocations)
	if err != nil {
		return cmdline.Usage(err)
	}
	return o.Print(s, foundJSON(table, found, total), func() error { return showFound(s, found, total) })
}

func tableOf(ctx context.Context, url string, s cmdline.Streams) (t *places.Table, err error) {
	if url == "" {
		return places.Countries(), nil
	}
	if err := cmdline.CheckDatabase(url); err != nil {
		return nil, err
	}
	store, err := database.OpenTelling(ctx, url, s.Warn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	_, t, err = geotargets.Load(ctx, store)
	return t, err
}

func showFound(s cmdline.Streams, found []places.Row, total int) error {
	if total == 0 {
		fmt.Fprintln(s.Err, "no place has these words")
		return nil
	}
	t := terminal.NewTable(s.Out, "id", "place", "type", "country", "status")
	for _, r := range found {
		t.Row(strconv.FormatUint(uint64(r.ID), 10), terminal.Printable(r.CanonicalName), terminal.Printable(r.Type), terminal.Printable(r.Country), terminal.Printable(r.Status))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more := total - len(found); more > 0 {
		fmt.Fprintf(s.Err, "and %s; give more words\n", terminal.Many(uint64(more), "more place"))
	}
	return nil
}

func foundJSON(t *places.Table, found []places.Row, total int) any {
	type place struct {
		ID            uint32 `json:"id"`
		Name          string `json:"name"`
		CanonicalName string `json:"canonical_name"`
		Parent        uint32 `json:"parent_id,omitempty"`
		Country       string `json:"country_code"`
		Type          string `json:"type"`
		Status        string `json:"status"`
	}
	out := struct {
		Places  []place `json:"places"`
		Total   int     `json:"total"`
		Version string  `json:"locations_version"`
	}{[]place{}, total, t.Version()}
	for _, r := range found {
		out.Places = append(out.Places, place(r))
	}
	return out
}
