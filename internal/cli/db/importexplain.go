package db

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"adshard/ingest"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
)

// explainFiles shows how files are read, without a database.
func explainFiles(ctx context.Context, f *importFlags, files []string, s cmdline.Streams) error {
	format, err := ingest.ParseFormat(f.format)
	if err == nil && (f.db != "" || f.dryRun || f.rejects != "" || f.conflicts != "") {
		err = errors.New("--explain reads only the files: leave out --db, --dry-run, --rejects and --conflicts")
	}
	if err != nil {
		return cmdline.Usage(err)
	}
	if err := cmdline.Readable(files); err != nil {
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
		return cmdline.ErrRejects
	}
	return nil
}

// explanation shows how one file is read.
func explanation(s cmdline.Streams, x *ingest.Explanation) error {
	fmt.Fprintf(s.Out, "%s: %s, %s\n", terminal.Printable(x.File), x.Title(), terminal.Many(uint64(x.Rows), "row"))
	columns := terminal.NewTable(s.Out, "column", "read as")
	for _, c := range x.Columns {
		columns.Row(strconv.Quote(c.Heading), c.Use())
	}
	if len(x.Columns) > 0 {
		if err := columns.Flush(); err != nil {
			return err
		}
	}
	kinds := terminal.NewTable(s.Out, "rows", "", "kind", "the first")
	for _, k := range x.Kinds {
		kinds.Row(strconv.FormatInt(k.Rows, 10), k.Does.Done(), cmp.Or(k.Kind, "unreadable"), k.Example())
	}
	return kinds.Flush()
}
