package ingest

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
	"adshard/places"
)

// PlacesSummary is what a file changed in a table of places.
type PlacesSummary struct {
	Rows     int64 // without the header; rejected ones too
	Rejected int64
	First    []Reject // at most FirstRejects
	// Created, Changed and Left count the places that the file names.
	Created, Changed, Left int64
	Version                string // of the table afterwards
}

// LoadPlaces returns the table of places of a database, with the version of its document; where none was imported, the one that is
// built in.
func LoadPlaces(ctx context.Context, s backend.Documents) (version uint64, t *places.Table, err error) {
	head, text, err := backend.LoadDocument(ctx, s, backend.PlacesDocument)
	if fault.Is(err, fault.NotFound) {
		return 0, places.Countries(), nil
	}
	if err == nil {
		t, err = places.Parse(text)
	}
	return head.Version, t, err
}

// ImportPlaces puts the rows of a file into the table of places of a database, all at once: see ReadPlaces. Errors: fault.Conflict if
// another import has changed the table meanwhile.
func ImportPlaces(ctx context.Context, s backend.Documents, name string, o Options) (PlacesSummary, error) {
	version, now, err := LoadPlaces(ctx, s)
	if err != nil {
		return PlacesSummary{}, err
	}
	base, _ := places.Countries().With(slices.Collect(now.All())) // a newer program may have more countries
	table, sum, err := ReadPlaces(ctx, base, name, o)
	if err != nil || table.Version() == now.Version() {
		return sum, err
	}
	_, err = s.SaveDocument(ctx, backend.PlacesDocument, version, backend.PackDocument(table.Text()))
	if fault.Is(err, fault.Conflict) {
		err = fault.Newf(fault.Conflict, "ingest: places", "another import has changed the places meanwhile: import %s again", name)
	}
	return sum, err
}

// ReadPlaces returns a table of places with the rows of a file added, as by places.Table.With. The file is
// one of Google's geotargets, CSV with the columns of places.Field. Rejected rows go to Options.Rejects, in
// the order of the file; of the options, Stdin and StdinName count, too. Errors: fault.Invalid for a file
// that cannot be read any further; fault.NotFound for a missing one.
func ReadPlaces(ctx context.Context, base *places.Table, name string, o Options) (*places.Table, PlacesSummary, error) {
	var sum PlacesSummary
	in, err := open(ctx, name, o.Stdin)
	if err != nil {
		return nil, sum, err
	}
	if name == "-" {
		in.name = cmp.Or(o.StdinName, name)
	}
	f := &placeFile{name: in.name}
	err = f.read(ctx, in)
	if e := in.close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, sum, err
	}
	table, refused := base.With(f.rows)
	for _, r := range refused {
		f.reject(f.records[r.Row], places.FieldParent, found(r.Err.Error(), fmt.Sprint(f.rows[r.Row].Parent)))
	}
	if len(table.Text()) > places.MaxSize {
		return nil, sum, fault.Newf(fault.Invalid, "ingest: places", "%s makes a table of places of more than %d bytes", f.name, places.MaxSize)
	}
	sum = f.summary(base, table, refused)
	sum.Version = table.Version()
	return table, sum, f.report(o.Rejects)
}

// placeFile is a file of places that is being read.
type placeFile struct {
	name    string
	cells   *recordReader
	column  [places.Fields]int // of each field
	width   int
	rows    []places.Row
	records []int64 // of the rows
	rejects []Reject
}

func (f *placeFile) read(ctx context.Context, in *input) error {
	utf, err := decoded(in.src)
	if err != nil {
		return fileFault(f.name, 1, 1, err)
	}
	f.cells = newRecordReader(utf)
	f.cells.sep = ','
	if err := f.header(); err != nil {
		return fileFault(f.name, 1, 1, err)
	}
	for {
		cells, err := f.cells.next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errTooLong):
			f.reject(f.cells.record, places.Fields, err.Error())
			continue
		case err == nil && in.read.Load() > 4*places.MaxSize:
			err = fmt.Errorf("more than %d bytes are no table of places", 4*places.MaxSize)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fileFault(f.name, f.cells.record, f.cells.line, err)
		}
		f.row(cells)
	}
}

// header reads which columns there are, in any order. Others are not read.
func (f *placeFile) header() error {
	cells, err := f.cells.next()
	if err != nil && err != io.EOF {
		return err
	}
	f.width = len(cells)
	for field := range places.Fields {
		at := func(cell []byte) bool { return strings.EqualFold(string(bytes.TrimSpace(cell)), field.String()) }
		if f.column[field] = slices.IndexFunc(cells, at); f.column[field] < 0 {
			return fmt.Errorf("the column %s is missing: this is no file of Google's geotargets, with commas between its cells", field)
		}
		if slices.ContainsFunc(cells[f.column[field]+1:], at) {
			return fmt.Errorf("the column %s is there twice", field)
		}
	}
	return nil
}

func (f *placeFile) row(cells [][]byte) {
	if len(cells) == 1 && len(bytes.TrimSpace(cells[0])) == 0 {
		return // a blank line
	}
	record := f.cells.record
	if len(cells) > f.width || len(cells) < f.width && f.cells.open {
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
		f.reject(record, places.FieldID, found(err.Error(), of(places.FieldID)))
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
		f.reject(record, field, found(err.Error(), of(field)))
		return
	}
	f.rows, f.records = append(f.rows, r), append(f.records, record)
}

// reject notes a row; places.Fields: as a whole.
func (f *placeFile) reject(record int64, field places.Field, why string) {
	r := Reject{File: f.name, Record: record, Reason: why}
	if field < places.Fields {
		r.Column = field.String()
	}
	f.rejects = append(f.rejects, r)
}

// summary compares what was with what is.
func (f *placeFile) summary(before, after *places.Table, refused []places.Refused) PlacesSummary {
	slices.SortStableFunc(f.rejects, func(a, b Reject) int { return cmp.Compare(a.Record, b.Record) })
	sum := PlacesSummary{Rows: int64(len(f.rows) + len(f.rejects) - len(refused)), Rejected: int64(len(f.rejects)),
		First: f.rejects[:min(len(f.rejects), FirstRejects)]}
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

func (f *placeFile) report(to io.Writer) error {
	w := newRejectWriter(to)
	for i := range f.rejects {
		if err := w.write(&f.rejects[i]); err != nil {
			return err
		}
	}
	return w.flush()
}
