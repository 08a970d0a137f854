package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"adshard/ingest"
)

// explainFiles shows how files are read, without a database.
func explainFiles(ctx context.Context, f *importFlags, files []string, s Streams) error {
	format, err := ingest.ParseFormat(f.format)
	if err == nil && (f.db != "" || f.dryRun || f.rejects != "" || f.conflicts != "") {
		err = errors.New("--explain reads the files alone: leave out --db, --dry-run, --rejects and --conflicts")
	}
	if err != nil {
		return &usageError{err}
	}
	if err := readable(files); err != nil {
		return err
	}
	rejected := false
	for i, name := range files {
		x, err := ingest.Explain(ctx, name, ingest.Options{Format: format, Advertiser: f.advertiser, Stdin: s.In})
		if err != nil {
			return err
		}
		for _, k := range x.Kinds {
			rejected = rejected || k.Does == ingest.DoesReject
		}
		if f.json {
			err = json.NewEncoder(s.Out).Encode(map[string]*ingest.Explanation{"explanation": &x})
		} else {
			if i > 0 {
				fmt.Fprintln(s.Out)
			}
			err = explanation(s, &x)
		}
		if err != nil {
			return err
		}
	}
	if rejected {
		return errRejects
	}
	return nil
}

// explanation shows how one file is read.
func explanation(s Streams, x *ingest.Explanation) error {
	fmt.Fprintf(s.Out, "%s: %s, %s\n", printable(x.File), x.Title(), many(uint64(x.Rows), "row"))
	columns := newTable(s.Out, "column", "read as")
	for _, c := range x.Columns {
		columns.row(strconv.Quote(c.Heading), c.Use())
	}
	if len(x.Columns) > 0 {
		if err := columns.flush(); err != nil {
			return err
		}
	}
	kinds := newTable(s.Out, "rows", "", "kind", "the first")
	for _, k := range x.Kinds {
		kinds.row(strconv.FormatInt(k.Rows, 10), k.Does.Done(), cmp.Or(k.Kind, "unreadable"), k.Example())
	}
	return kinds.flush()
}
