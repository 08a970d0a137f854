package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

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
	kind := "JSON lines"
	if x.Format == ingest.FormatEditor {
		kind = "a Google Ads Editor file, cells separated by " + map[string]string{"\t": "tabs", ",": "commas", ";": "semicolons"}[x.Separator]
	}
	fmt.Fprintf(s.Out, "%s: %s, %s\n", printable(x.File), kind, many(uint64(x.Rows), "row"))
	columns := newTable(s.Out, "column", "read as")
	for _, c := range x.Columns {
		columns.row(strconv.Quote(c.Heading), columnUse(&c))
	}
	if len(x.Columns) > 0 {
		if err := columns.flush(); err != nil {
			return err
		}
	}
	kinds := newTable(s.Out, "rows", "", "kind", "the first")
	for _, k := range x.Kinds {
		kinds.row(strconv.FormatInt(k.Rows, 10), doing[k.Does], cmp.Or(k.Kind, "unreadable"), firstRow(&k))
	}
	return kinds.flush()
}

// doing says what happens to rows.
var doing = map[ingest.Does]string{ingest.DoesImport: "imported", ingest.DoesSkip: "skipped", ingest.DoesReject: "rejected"}

func columnUse(c *ingest.ColumnUse) string {
	use := c.As
	switch {
	case c.As != "" && c.Unused > 0:
		use += ", not used in " + many(uint64(c.Unused), "row")
	case c.As != "":
	case c.Identifies != "":
		use = "rows of another kind: " + c.Identifies
	default:
		use = "not used"
	}
	if c.As == "" && c.Unused > 0 {
		use += ", filled in " + many(uint64(c.Unused), "imported row")
	}
	if c.Meant != "" {
		use += fmt.Sprintf("; did you mean %q?", c.Meant)
	}
	return use
}

func firstRow(k *ingest.RowKind) string {
	cells := make([]string, 0, len(k.Cells))
	for _, c := range k.Cells {
		cells = append(cells, c.Column+" "+strconv.Quote(c.Text))
	}
	text := fmt.Sprintf("row %d: %s", k.First, strings.Join(cells, ", "))
	if k.Reason != "" {
		text += "; " + k.Reason
	}
	return strings.TrimSuffix(text, ": ")
}
