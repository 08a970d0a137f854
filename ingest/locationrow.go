package ingest

import (
	"errors"
	"slices"
	"strings"

	"adshard/backend"
	"adshard/ingest/values"
	"adshard/places"
	"adshard/targeting"
)

// locationChange is the change that a location row makes: it adds, changes or removes one target or exclusion of its
// campaign (serving.md §13).
type locationChange struct {
	targeting.Location
	modifier backend.Patch[uint16]
	removes  bool
}

var (
	errNoLocation     = errors.New("no location: a name, an ID or a circle")
	errLocationType   = errors.New("a location row is a target (no type) or an exclusion: Negative, Campaign Negative or Excluded")
	errLocationStatus = errors.New("a location is Enabled or Removed; it cannot be paused")
	errNameRadius     = errors.New("a named place has no radius: give two numbers as Location for a circle")
)

// locates reports whether the row names a place or circle.
func (r *editorRow) locates() bool {
	return slices.ContainsFunc(placeColumns[:], r.says)
}

// says reports whether a cell is filled, and not with [].
func (r *editorRow) says(c column) bool {
	cell := r.cell(c)
	return len(cell) > 0 && string(cell) != "[]"
}

// mentionsPlace reports whether a row of another kind names a place or circle.
func (r *editorRow) mentionsPlace() bool {
	return slices.ContainsFunc(placeColumns[:], func(c column) bool { return r.says(c) && r.layout.isPlace(r.layout.cell[c]) })
}

// readLocation reads a location row.
func (s *editorSource) readLocation(e *entry) {
	e.kind, e.location = kindLocation, new(locationChange)
	l := e.location
	l.Modifier = targeting.Default
	switch values.Plain(s.row.text(colCriterionType)) {
	case "":
	case "negative", "campaignnegative", "excluded":
		l.Exclude = true
	default:
		s.row.note(colCriterionType, errLocationType)
	}
	switch s.row.status(colStatus) {
	case backend.Remove:
		l.removes = true
	case backend.Pause:
		s.row.note(colStatus, errLocationStatus)
	}
	switch {
	case s.row.filled(colPlaceID) && string(s.row.cell(colPlaceID)) != "[]":
		s.readPlaceID(e)
	case s.row.filled(colLocation):
		s.readPlace(l, s.row.text(colLocation))
	default:
		s.row.note(colLocation, errNoLocation)
	}
	if !l.Exclude {
		l.modifier = patch(&s.row, colLocationModifier, values.ParseLocationModifier)
	}
}

func (s *editorSource) readPlaceID(e *entry) {
	id, err := places.ParseID(s.row.text(colPlaceID))
	if err != nil {
		s.row.note(colPlaceID, err)
		return
	}
	e.location.Place = id
	inactive, err := s.places.check(id)
	switch {
	case e.location.removes:
	case err != nil:
		s.row.note(colPlaceID, err)
	case inactive:
		e.inactive = []uint32{id}
	}
}

// readPlace reads the cell Location: a circle, the centre of a circle, or a name.
func (s *editorSource) readPlace(l *locationChange, cell string) {
	if strings.HasPrefix(cell, "(") {
		var err error
		l.Circle, err = values.ParseCircle(cell)
		s.row.note(colLocation, err)
		if s.row.filled(colRadius) {
			s.row.note(colRadius, errNameRadius)
		}
		return
	}
	if lat, lon, ok := values.TwoNumbers(cell); ok && s.row.filled(colRadius) {
		s.circleAround(l, lat, lon)
		return
	}
	if s.row.filled(colRadius) && string(s.row.cell(colRadius)) != "[]" {
		s.row.note(colRadius, errNameRadius)
	}
	var err error
	l.Place, err = s.places.find(cell)
	s.row.note(colLocation, err)
}

// circleAround reads a circle whose centre is in Location, with the size from Radius and Unit.
func (s *editorSource) circleAround(l *locationChange, lat, lon string) {
	point, err := targeting.ParsePoint(lat, lon)
	s.row.note(colLocation, err)
	length, unit := values.SplitUnit(s.row.text(colRadius))
	if unit == "" {
		if unit = strings.ToLower(s.row.text(colUnit)); unit != "mi" && unit != "km" {
			s.row.note(colUnit, values.ErrUnit)
			unit = "km"
		}
	}
	radius, ok := values.ParseRadius(length, unit)
	if !ok {
		s.row.note(colRadius, values.ErrRadius)
	}
	l.Circle = targeting.Circle{Point: point, Radius: radius}
}
