// Package geotargets imports Google's geotargets files into a database's table of places.
//
//	sum, err := geotargets.Import(ctx, store, "geotargets.csv", geotargets.Options{})
package geotargets

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
	"adshard/places"
)

// Options configure Read and Import. The zero value is ready to use.
type Options struct {
	// Rejects, if not nil, receives the rejected rows as tab-separated lines without a header: file, row, column,
	// reason.
	Rejects io.Writer
	// Stdin is read for the file named "-", or nil if there is no standard input. Errors call that file StdinName; ""
	// means "-".
	Stdin     io.Reader
	StdinName string
}

// Summary says what a file changed in a table of places.
type Summary struct {
	Rows     int64 // without the header, but with the rejected rows
	Rejected int64
	First    []rejected.Row // at most rejected.Listed
	// Created, Changed and Left count the places that the file names: the new, the changed and the unchanged ones.
	Created, Changed, Left int64
	Version                string // of the table afterwards
}

// Load returns the table of places of a database and the version of the table's document. If no table was imported, it
// returns the built-in table and version 0.
func Load(ctx context.Context, s backend.Documents) (version uint64, t *places.Table, err error) {
	head, text, _, err := backend.LoadDocument(ctx, s, backend.PlacesDocument)
	if fault.Is(err, fault.NotFound) {
		return 0, places.Countries(), nil
	}
	if err == nil {
		t, err = places.Parse(text)
	}
	return head.Version, t, err
}

// Import puts the rows of a file into the table of places of a database, all at once; see Read. It returns fault.Conflict
// if another import has changed the table meanwhile.
func Import(ctx context.Context, s backend.Documents, name string, o Options) (Summary, error) {
	version, now, err := Load(ctx, s)
	if err != nil {
		return Summary{}, err
	}
	base, _ := places.Countries().With(slices.Collect(now.All())) // a newer program may have more countries
	table, sum, err := Read(ctx, base, name, o)
	if err != nil || table.Version() == now.Version() {
		return sum, err
	}
	_, err = s.SaveDocument(ctx, backend.PlacesDocument, version, backend.PackDocument(table.Text()))
	if fault.Is(err, fault.Conflict) {
		err = fault.Newf(fault.Conflict, "ingest: places", "another import has changed the places meanwhile: import %s again", name)
	}
	return sum, err
}

// Read returns a table of places with the rows of a file added, as by places.Table.With. The file is one of Google's
// geotargets files, a CSV file with the columns of places.Field. Rejected rows go to Options.Rejects in the order of
// the file. Errors: fault.Invalid for a file that cannot be read any further, fault.NotFound for a missing one.
func Read(ctx context.Context, base *places.Table, name string, o Options) (*places.Table, Summary, error) {
	var sum Summary
	in, err := textfile.Open(ctx, name, o.Stdin)
	if err != nil {
		return nil, sum, err
	}
	if name == "-" {
		in.Name = cmp.Or(o.StdinName, name)
	}
	f := &file{name: in.Name}
	err = f.read(ctx, in)
	if e := in.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, sum, err
	}
	table, refused := base.With(f.rows)
	for _, r := range refused {
		f.reject(f.records[r.Row], places.FieldParent, rejected.Found(r.Err.Error(), fmt.Sprint(f.rows[r.Row].Parent)))
	}
	if len(table.Text()) > places.MaxSize {
		return nil, sum, fault.Newf(fault.Invalid, "ingest: places", "%s makes a table of places of more than %d bytes", f.name, places.MaxSize)
	}
	sum = f.summary(base, table, refused)
	sum.Version = table.Version()
	return table, sum, f.report(o.Rejects)
}

// file is a file of places that is being read.
type file struct {
	name    string
	cells   *textfile.Reader
	column  [places.Fields]int // the column of each field
	width   int
	rows    []places.Row
	records []int64 // record numbers of the rows
	rejects []rejected.Row
}

func (f *file) read(ctx context.Context, in *textfile.File) error {
	utf, err := textfile.Decode(in)
	if err != nil {
		return textfile.Fault(f.name, 1, 1, err)
	}
	f.cells = textfile.NewReader(utf)
	f.cells.Separator = ','
	if err := f.header(); err != nil {
		return textfile.Fault(f.name, 1, 1, err)
	}
	for {
		cells, err := f.cells.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, textfile.ErrTooLong):
			f.reject(f.cells.Record, places.Fields, err.Error())
			continue
		case err == nil && in.BytesRead() > 4*places.MaxSize:
			err = fmt.Errorf("more than %d bytes are not a table of places", 4*places.MaxSize)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return textfile.Fault(f.name, f.cells.Record, f.cells.Line, err)
		}
		f.row(cells)
	}
}

// header finds the columns of the fields, in any order. Other columns are not read.
func (f *file) header() error {
	cells, err := f.cells.Next()
	if err != nil && err != io.EOF {
		return err
	}
	f.width = len(cells)
	for field := range places.Fields {
		at := func(cell []byte) bool { return strings.EqualFold(string(bytes.TrimSpace(cell)), field.String()) }
		if f.column[field] = slices.IndexFunc(cells, at); f.column[field] < 0 {
			return fmt.Errorf("the column %s is missing: this is not a file of Google's geotargets, with commas between its cells", field)
		}
		if slices.ContainsFunc(cells[f.column[field]+1:], at) {
			return fmt.Errorf("the column %s is there twice", field)
		}
	}
	return nil
}

func (f *file) row(cells [][]byte) {
	if len(cells) == 1 && len(bytes.TrimSpace(cells[0])) == 0 {
		return // a blank line
	}
	record := f.cells.Record
	if len(cells) > f.width || len(cells) < f.width && f.cells.Unended {
		f.reject(record, places.Fields, fmt.Sprintf("%d cells, the header has %d: quote a cell that contains a comma, or get the whole file", len(cells), f.width))
		return
	}
	of := func(field places.Field) string {
		if i := f.column[field]; i < len(cells) {
			return string(bytes.TrimSpace(cells[i]))
		}
		return ""
	}
	r := places.Row{Name: of(places.FieldName), CanonicalName: of(places.FieldCanonicalName), Country: of(places.FieldCountry),
		Type: of(places.FieldType), Status: of(places.FieldStatus)}
	var err error
	if r.ID, err = places.ParseID(of(places.FieldID)); err != nil {
		f.reject(record, places.FieldID, rejected.Found(err.Error(), of(places.FieldID)))
		return
	}
	field, err := r.Check()
	if parent := of(places.FieldParent); parent != "" && (err == nil || field > places.FieldParent) {
		var e error
		if r.Parent, e = places.ParseID(parent); e != nil {
			field, err = places.FieldParent, e
		}
	}
	if err != nil {
		f.reject(record, field, rejected.Found(err.Error(), of(field)))
		return
	}
	f.rows, f.records = append(f.rows, r), append(f.records, record)
}

// reject notes a rejected row and its field; places.Fields means the whole row.
func (f *file) reject(record int64, field places.Field, why string) {
	r := rejected.Row{File: f.name, Record: record, Reason: why}
	if field < places.Fields {
		r.Column = field.String()
	}
	f.rejects = append(f.rejects, r)
}

// summary compares the tables before and after the import.
func (f *file) summary(before, after *places.Table, refused []places.Refused) Summary {
	slices.SortStableFunc(f.rejects, func(a, b rejected.Row) int { return cmp.Compare(a.Record, b.Record) })
	sum := Summary{Rows: int64(len(f.rows) + len(f.rejects) - len(refused)), Rejected: int64(len(f.rejects)),
		First: f.rejects[:min(len(f.rejects), rejected.Listed)]}
	seen := make(map[uint32]bool, len(f.rows))
	for i := range f.rows {
		id := f.rows[i].ID
		is, ok := after.Place(id)
		if seen[id] || !ok {
			continue
		}
		seen[id] = true
		switch was, there := before.Place(id); {
		case !there:
			sum.Created++
		case was != is:
			sum.Changed++
		default:
			sum.Left++
		}
	}
	return sum
}

func (f *file) report(to io.Writer) error {
	w := rejected.NewWriter(to)
	for i := range f.rejects {
		if err := w.Write(&f.rejects[i]); err != nil {
			return err
		}
	}
	return w.Flush()
}
