package places

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"adshard/fault"
)

// Table contains places by id. It does not change.
type Table struct {
	text    string  // one line per place, by ascending id
	index   []entry // of the lines, by ascending id
	version string
}

// entry is what requests need to know of a place.
type entry struct {
	id, parent uint32
	depth      uint32 // number of places from it up to one without a parent, including itself
	at         uint32 // offset of its line
}

// MaxSize is the largest size of a table's text in bytes, some ten times that of Google's table.
const MaxSize = 256 << 20

// build returns the table of checked rows, which must have ascending ids, no circles and no missing parents.
func build(rows []Row) *Table {
	var text strings.Builder
	index := make([]entry, len(rows))
	for i := range rows {
		index[i] = entry{id: rows[i].ID, parent: rows[i].Parent, at: uint32(text.Len())}
		writeLine(&text, &rows[i])
	}
	return finish(text.String(), index)
}

// finish adds depths and the version. All parents must exist and must not form a circle.
func finish(text string, index []entry) *Table {
	sum := sha256.Sum256([]byte(text))
	t := &Table{text: text, index: index, version: hex.EncodeToString(sum[:8])}
	var chain []*entry
	for i := range index {
		chain = chain[:0]
		e := &index[i]
		for e.depth == 0 && e.parent != 0 {
			chain = append(chain, e)
			e = t.find(e.parent)
		}
		e.depth = max(e.depth, 1)
		for depth := e.depth; len(chain) > 0; chain = chain[:len(chain)-1] {
			depth++
			chain[len(chain)-1].depth = depth
		}
	}
	return t
}

// writeLine writes a row as cells separated by tabs. It leaves out a canonical name that equals the name.
func writeLine(b *strings.Builder, r *Row) {
	var number [10]byte
	b.Write(strconv.AppendUint(number[:0], uint64(r.ID), 10))
	b.WriteByte('\t')
	b.WriteString(r.Name)
	b.WriteByte('\t')
	if r.CanonicalName != r.Name {
		b.WriteString(r.CanonicalName)
	}
	b.WriteByte('\t')
	if r.Parent != 0 {
		b.Write(strconv.AppendUint(number[:0], uint64(r.Parent), 10))
	}
	for _, cell := range [...]string{r.Country, r.Type, r.Status} {
		b.WriteByte('\t')
		b.WriteString(cell)
	}
	b.WriteByte('\n')
}

// Text returns the table as Parse reads it: a line for each place by ascending id, with the fields of Row in their
// order, separated by tabs. An empty canonical name means that it equals the name, an empty parent that there is
// none.
func (t *Table) Text() string { return t.text }

// Version returns a name for the content: equal tables have equal versions.
func (t *Table) Version() string { return t.version }

// Len returns the number of places.
func (t *Table) Len() int { return len(t.index) }

// All returns the places by ascending id.
func (t *Table) All() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range t.index {
			if !yield(t.row(&t.index[i])) {
				return
			}
		}
	}
}

// Place returns the place with an id, or false if there is none.
func (t *Table) Place(id uint32) (Row, bool) {
	if e := t.find(id); e != nil {
		return t.row(e), true
	}
	return Row{}, false
}

// Depth returns the number of places on the longest chain from a place up to one without a parent, or 0 if the table
// lacks the place.
func (t *Table) Depth(id uint32) int {
	if e := t.find(id); e != nil {
		return int(e.depth)
	}
	return 0
}

// find returns a place's entry, or nil if the table lacks it.
func (t *Table) find(id uint32) *entry {
	if i := t.at(id); i >= 0 {
		return &t.index[i]
	}
	return nil
}

// at returns the index of a place, or -1 if the table lacks it.
func (t *Table) at(id uint32) int {
	i, ok := slices.BinarySearchFunc(t.index, id, func(e entry, id uint32) int { return cmp.Compare(e.id, id) })
	if !ok {
		return -1
	}
	return i
}

func (t *Table) row(e *entry) Row {
	line, _, _ := strings.Cut(t.text[e.at:], "\n")
	r, _ := parseLine(line) // it was written or checked here
	return r
}

// Parse reads a table that Text has written. It returns fault.Corrupt if the text is not a table.
func Parse(text string) (*Table, error) {
	if len(text) > MaxSize {
		return nil, fault.Newf(fault.Corrupt, "places: parse", "a table of places of %d bytes", len(text))
	}
	rows := make([]Row, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		r, ok := parseLine(strings.TrimSuffix(line, "\n"))
		if !ok {
			return nil, fault.Newf(fault.Corrupt, "places: parse", "line %d of a table of places is damaged", len(rows)+1)
		}
		rows = append(rows, r)
	}
	t, refused := new(Table).With(rows)
	if len(refused) > 0 || t.text != text {
		return nil, fault.Newf(fault.Corrupt, "places: parse", "a table of places is damaged: its rows are not in order, or lack parents")
	}
	return t, nil
}

func parseLine(line string) (r Row, ok bool) {
	var cells [Fields]string
	for i := range cells {
		cells[i], line, ok = strings.Cut(line, "\t")
		if last := i == len(cells)-1; ok == last {
			return r, false
		}
	}
	id, err := ParseID(cells[FieldID])
	if err != nil {
		return r, false
	}
	r = Row{ID: id, Name: cells[FieldName], CanonicalName: cells[FieldCanonicalName], Country: cells[FieldCountry], Type: cells[FieldType],
		Status: cells[FieldStatus]}
	if p := cells[FieldParent]; p != "" {
		if r.Parent, err = ParseID(p); err != nil {
			return r, false
		}
	}
	r.complete()
	_, err = r.Check()
	return r, err == nil
}

// ParseID reads an id in decimal digits.
func ParseID(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 {
		return 0, errNoID
	}
	return uint32(n), nil
}

// String names a place for people: its canonical name, type and id.
func (r *Row) String() string { return fmt.Sprintf("%s (%s %d)", r.CanonicalName, r.Type, r.ID) }
