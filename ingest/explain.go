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

// Explanation says how an import would read a file.
type Explanation struct {
	File   string `json:"file"`
	Format Format `json:"format"`
	// Separator is the separator between the cells of an Editor file.
	Separator string `json:"separator,omitempty"`
	// Columns are the columns of an Editor file, in the order of the file.
	Columns []ColumnUse `json:"columns,omitempty"`
	Rows    int64       `json:"rows"`
	// Kinds are the kinds of rows, in the order in which they first appear.
	Kinds []RowKind `json:"kinds"`
}

// ColumnUse says how a column is read.
type ColumnUse struct {
	Heading string `json:"heading"`
	// As is the name of the known column, or "" if the column is not used.
	As string `json:"as,omitempty"`
	// Identifies is the kind of skipped rows that a filled cell of the column identifies.
	Identifies string `json:"identifies,omitempty"`
	// Unused is the number of imported rows that have the column filled and do not use it.
	Unused int64 `json:"unused_rows,omitempty"`
	// Meant is the name of the column that the heading may be a misspelling of.
	Meant string `json:"did_you_mean,omitempty"`
}

// RowKind is a kind of rows that are imported, skipped or rejected.
type RowKind struct {
	Kind string `json:"kind"`
	Does Does   `json:"does"`
	Rows int64  `json:"rows"`
	// First is the record number of the first row. Cells are those cells of that row that are read. Reason is why the
	// row is rejected, if it is.
	First  int64  `json:"first"`
	Cells  []Cell `json:"cells,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Does is what an import does with a row.
type Does string

// The values of Does.
const (
	DoesImport Does = "import"
	DoesSkip   Does = "skip"
	DoesReject Does = "reject"
)

// explainedKinds is the most kinds that an Explanation lists.
const explainedKinds = 200

// Explain reads a file as Run does, but without a database. It returns the errors that Run returns for a file that
// cannot be read.
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

// anyAdvertiser stands for the advertiser of a file that names none. An Explanation does not depend on the
// advertiser.
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

// columnUses returns how each column of the file was read.
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

// The methods below return texts about an Explanation, wherever it is shown.

// Title returns the kind of the file.
func (x *Explanation) Title() string {
	if x.Format != FormatEditor {
		return "JSON lines"
	}
	return "a Google Ads Editor file, cells separated by " + map[string]string{"\t": "tabs", ",": "commas", ";": "semicolons"}[x.Separator]
}

// Use returns how the column is read.
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

// Example returns the first row of the kind as text.
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

// Done returns what happens to the rows, as a participle.
func (d Does) Done() string {
	return map[Does]string{DoesImport: "imported", DoesSkip: "skipped", DoesReject: "rejected"}[d]
}

func rowsOf(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatInt(n, 10) + " " + thing
}
