package ingest

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest/geotargets"
	"adshard/places"
	"adshard/targeting"
)

// placeBook is the table of the places that files name. It is loaded when the first row names a place.
type placeBook struct {
	load  func() (*places.Table, error)
	table *places.Table
	names *places.Names
	err   error // returned by load
}

func newPlaceBook(load func() (*places.Table, error)) *placeBook { return &placeBook{load: load} }

// builtInPlaces returns the book that is used without a database.
func builtInPlaces() *placeBook {
	return newPlaceBook(func() (*places.Table, error) { return places.Countries(), nil })
}

// placesOf returns the book of a database.
func placesOf(ctx context.Context, s backend.Documents) *placeBook {
	return newPlaceBook(func() (*places.Table, error) {
		_, t, err := geotargets.Load(ctx, s)
		return t, err
	})
}

func (b *placeBook) open() error {
	if b.table == nil && b.err == nil {
		b.table, b.err = b.load()
	}
	return b.err
}

// check returns an error if a place is not in the table. inactive says that the place is in the table, but should not
// be named any more.
func (b *placeBook) check(id uint32) (inactive bool, err error) {
	if err := b.open(); err != nil {
		return false, err
	}
	row, ok := b.table.Place(id)
	if !ok {
		return false, fmt.Errorf("place %d is not in the table of places: `adshard locations find` names those that are, `adshard locations import` adds others", id)
	}
	return row.Status != places.Active, nil
}

// find returns the only active place with a name. It returns an error if there is none or more than one.
func (b *placeBook) find(name string) (uint32, error) {
	if err := b.open(); err != nil {
		return 0, err
	}
	if b.names == nil {
		b.names = places.NewNames(b.table)
	}
	switch ids := b.names.Lookup(name); len(ids) {
	case 0:
		return 0, fmt.Errorf("no active place is called so: name it by its ID; `adshard locations find` looks for it")
	case 1:
		return ids[0], nil
	default:
		return 0, fmt.Errorf("%d places are called so: name it by its canonical name or its ID", len(ids))
	}
}

// CheckPlaces returns fault.Invalid with the field if the settings name a place that is not in the database's table.
func (s *Settings) CheckPlaces(ctx context.Context, d backend.Documents) error {
	p := s.Campaign.Locations
	if p.Op != backend.Set {
		return nil
	}
	book := placesOf(ctx, d)
	if err := book.open(); err != nil {
		return err
	}
	if _, err := book.checkAll(p.Value); err != nil {
		return fault.Field("ingest: read settings", fieldLocations.String(), "%s: %w", fieldLocations, err)
	}
	return nil
}

// checkAll returns an error if a location's place is not in the table. It returns the places that are inactive.
func (b *placeBook) checkAll(canonical string) (inactive []uint32, err error) {
	list, err := targeting.ParseLocations([]byte(canonical))
	for _, l := range list {
		if l.Place == 0 || err != nil {
			continue
		}
		var old bool
		if old, err = b.check(l.Place); old {
			inactive = append(inactive, l.Place)
		}
	}
	return inactive, err
}
