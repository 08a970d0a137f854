package ingest

import (
	"fmt"
	"strconv"
	"strings"
)

// What is said of an Explanation, wherever it is shown.

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
