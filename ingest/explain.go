package ingest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
)

// Explanation is how an import would read a file.
type Explanation struct {
	File   string `json:"file"`
	Format Format `json:"format"`
	// Separator lies between the cells of an Editor file.
	Separator string `json:"separator,omitempty"`
	// Columns are those of an Editor file, in its order.
	Columns []ColumnUse `json:"columns,omitempty"`
	Rows    int64       `json:"rows"`
	// Kinds are the kinds of rows, in order of their first one.
	Kinds []RowKind `json:"kinds"`
}

// ColumnUse is what a column is read as.
type ColumnUse struct {
	Heading string `json:"heading"`
	// As is the column that it is read as, or "" if it is not used.
	As string `json:"as,omitempty"`
	// Identifies is the kind of rows that a filled cell makes one of, which are skipped.
	Identifies string `json:"identifies,omitempty"`
	// Unused is the number of imported rows that have it filled and do not use it.
	Unused int64 `json:"unused_rows,omitempty"`
	// Meant is the name of a column that the heading may have meant.
	Meant string `json:"did_you_mean,omitempty"`
}

// RowKind is a kind of rows: imported, skipped or rejected ones.
type RowKind struct {
	Kind string `json:"kind"`
	Does Does   `json:"does"`
	Rows int64  `json:"rows"`
	// First is the record of the first one, Cells those of its cells that are read, and Reason
	// why it is rejected, if it is.
	First  int64  `json:"first"`
	Cells  []Cell `json:"cells,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Does is what an import does with a row.
type Does string

// What it does.
const (
	DoesImport Does = "import"
	DoesSkip   Does = "skip"
	DoesReject Does = "reject"
)

// explainedKinds bounds the kinds of an Explanation.
const explainedKinds = 200

// Explain reads a file as Run does, without a database. Errors: those of Run for a file that cannot be read.
func Explain(ctx context.Context, name string, o Options) (x Explanation, err error) {
	in, err := textfile.Open(ctx, name, o.Stdin)
	if err != nil {
		return x, err
	}
	if o.Advertiser = strings.TrimSpace(o.Advertiser); o.Advertiser == "" {
		o.Advertiser = anyAdvertiser
	}
	x, err = explain(ctx, in, o)
	if e := in.Close(); err == nil {
		err = e
	}
	return x, err
}

// anyAdvertiser stands for the advertiser of a file that names none; here it does not
// matter which.
const anyAdvertiser = "-"

func explain(ctx context.Context, in *textfile.File, o Options) (Explanation, error) {
	x := Explanation{File: in.Name, Format: FormatJSONL}
	src, err := openSource(in, o, &campaignTypes{})
	if err != nil {
		return x, textfile.Fault(in.Name, 1, 1, err)
	}
	editor, _ := src.(*editorSource)
	for err == nil {
		var e entry
		if err = src.next(&e); err == nil {
			x.add(editor, &e)
			err = ctx.Err()
		}
	}
	if editor != nil {
		x.Format, x.Separator = FormatEditor, string(editor.records.Separator)
		x.Columns = editor.columnUses()
	}
	if err != io.EOF {
		record, line := src.position()
		return x, textfile.Fault(in.Name, record, line, err)
	}
	return x, nil
}

// add counts a row by its kind.
func (x *Explanation) add(s *editorSource, e *entry) {
	k := RowKind{Kind: kindLabels[e.kind], Does: DoesImport, First: e.record}
	switch {
	case e.reject != nil:
		k.Kind, k.Does, k.Reason = e.reject.Column, DoesReject, e.reject.Reason
	case e.skipped != "":
		k.Kind, k.Does = e.skipped, DoesSkip
	}
	x.Rows++
	at := slices.IndexFunc(x.Kinds, func(other RowKind) bool { return other.Kind == k.Kind && other.Does == k.Does })
	if at < 0 {
		if at = len(x.Kinds); at == explainedKinds {
			return
		}
		if s != nil {
			k.Cells = s.row.rowCells(&rejected.Row{})
		}
		x.Kinds = append(x.Kinds, k)
	}
	x.Kinds[at].Rows++
}

// columnUses says what each column of the file was read as.
func (s *editorSource) columnUses() []ColumnUse {
	list := make([]ColumnUse, s.row.layout.width())
	for i := range list {
		list[i].Heading = s.row.layout.header(i)
	}
	for c, at := range s.row.layout.cell {
		if at >= 0 && (column(c) != colType || s.types == typesOfCriteria) && column(c) != colStatus {
			list[at].As = column(c).String()
		}
	}
	if at := s.row.layout.cell[colType]; at >= 0 && s.types == typesOfCriteria {
		list[at].As = colCriterionType.String()
	}
	for _, c := range []struct {
		at int
		as column
	}{{s.row.layout.statusOf[ofKeyword], colKeywordStatus}, {s.row.layout.statusOf[ofAd], colAdStatus}, {s.row.layout.statusOf[ofOwner], colStatus}} {
		if c.at >= 0 {
			list[c.at].As = c.as.String()
		}
	}
	for _, o := range s.row.layout.others {
		list[o.cell].Identifies = otherKinds[o.kind].name
	}
	for k := range s.usage.rows {
		for i, n := range s.usage.rows[k] {
			list[i].Unused += n
		}
	}
	for i := range list {
		if list[i].As == "" && list[i].Identifies == "" {
			list[i].Meant = s.row.layout.meant(unusedKey{column: list[i].Heading})
		}
	}
	return list
}

// Texts of an Explanation, wherever it is shown.

// Title says what kind of file it is.
func (x *Explanation) Title() string {
	if x.Format != FormatEditor {
		return "JSON lines"
	}
	return "a Google Ads Editor file, cells separated by " + map[string]string{"\t": "tabs", ",": "commas", ";": "semicolons"}[x.Separator]
}

// Use says what the column is read as.
func (c *ColumnUse) Use() string {
	use := c.As
	switch {
	case c.As != "" && c.Unused > 0:
		use += ", not used in " + rowsOf(c.Unused, "row")
	case c.As != "":
	case c.Identifies != "":
		use = "rows of another kind: " + c.Identifies
	default:
		use = "not used"
	}
	if c.As == "" && c.Unused > 0 {
		use += ", filled in " + rowsOf(c.Unused, "imported row")
	}
	if c.Meant != "" {
		use += fmt.Sprintf("; did you mean %q?", c.Meant)
	}
	return use
}

// Example is the first row of the kind.
func (k *RowKind) Example() string {
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

// Done says what happens to rows.
func (d Does) Done() string {
	return map[Does]string{DoesImport: "imported", DoesSkip: "skipped", DoesReject: "rejected"}[d]
}

func rowsOf(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatInt(n, 10) + " " + thing
}
