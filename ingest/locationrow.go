package ingest

import (
	"errors"
	"math/big"
	"strings"

	"adshard/backend"
	"adshard/places"
	"adshard/targeting"
)

// locationChange is what a location row does: one target or exclusion of its campaign (serving.md §13).
type locationChange struct {
	targeting.Location
	modifier backend.Patch[uint16]
	removes  bool
}

const minLocationModifier = 100 // permille, −90 %

var (
	errNoLocation     = errors.New("no location: a name, an ID or a circle")
	errLocationType   = errors.New("a location row is a target (no type) or an exclusion: Negative, Campaign Negative or Excluded")
	errLocationStatus = errors.New("a location is Enabled or Removed; it cannot be paused")
	errNameRadius     = errors.New("a named place has no radius: give two numbers as Location for a circle")
	errCircle         = errors.New("not a circle such as (10mi:33.5303:-111.836502), of 100 m to 800 km")
	errRadiusCell     = errors.New("not a radius of 100 m to 800 km: a number, perhaps with mi or km")
	errUnit           = errors.New("the unit of the radius is mi or km")
	errLocationBid    = errors.New("not within -90 to +900")
)

// locates reports whether the row names a place or circle.
func (s *editorSource) locates() bool {
	for _, c := range [...]column{colLocation, colPlaceID, colRadius} {
		if cell := s.cell(c); len(cell) > 0 && string(cell) != "[]" {
			return true
		}
	}
	return false
}

// readLocation reads a location row.
func (s *editorSource) readLocation(e *entry) {
	e.kind, e.location = kindLocation, new(locationChange)
	l := e.location
	l.Modifier = targeting.Default
	switch plainName(s.text(colCriterionType)) {
	case "":
	case "negative", "campaignnegative", "excluded":
		l.Exclude = true
	default:
		s.note(colCriterionType, errLocationType)
	}
	switch s.status(colStatus) {
	case backend.Remove:
		l.removes = true
	case backend.Pause:
		s.note(colStatus, errLocationStatus)
	}
	switch {
	case s.filled(colPlaceID) && string(s.cell(colPlaceID)) != "[]":
		s.readPlaceID(e)
	case s.filled(colLocation):
		s.readPlace(l, s.text(colLocation))
	default:
		s.note(colLocation, errNoLocation)
	}
	if !l.Exclude {
		l.modifier = patch(s, colLocationModifier, parseLocationModifier)
	}
}

func (s *editorSource) readPlaceID(e *entry) {
	id, err := places.ParseID(s.text(colPlaceID))
	if err != nil {
		s.note(colPlaceID, err)
		return
	}
	e.location.Place = id
	inactive, err := s.places.check(id)
	switch {
	case e.location.removes:
	case err != nil:
		s.note(colPlaceID, err)
	case inactive:
		e.inactive = []uint32{id}
	}
}

// readPlace reads the cell Location: a circle, its middle or a name.
func (s *editorSource) readPlace(l *locationChange, cell string) {
	if strings.HasPrefix(cell, "(") {
		s.circle(l, colLocation, cell)
		if s.filled(colRadius) {
			s.note(colRadius, errNameRadius)
		}
		return
	}
	if lat, lon, ok := twoNumbers(cell); ok && s.filled(colRadius) {
		s.circleAround(l, lat, lon)
		return
	}
	if s.filled(colRadius) && string(s.cell(colRadius)) != "[]" {
		s.note(colRadius, errNameRadius)
	}
	var err error
	l.Place, err = s.places.find(cell)
	s.note(colLocation, err)
}

// circle reads (10mi:33.530300:-111.836502).
func (s *editorSource) circle(l *locationChange, c column, cell string) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(cell, "("), ")"), ":")
	if len(parts) != 3 || !strings.HasSuffix(cell, ")") {
		s.note(c, errCircle)
		return
	}
	point, err := targeting.ParsePoint(strings.TrimSpace(parts[1]), strings.TrimSpace(parts[2]))
	if err != nil {
		s.note(c, err)
		return
	}
	length, unit := splitUnit(strings.TrimSpace(parts[0]))
	radius, ok := metres(length, unit)
	if !ok {
		s.note(c, errCircle)
		return
	}
	l.Circle = targeting.Circle{Point: point, Radius: radius}
}

// circleAround reads a circle whose middle is in Location, from Radius and Unit.
func (s *editorSource) circleAround(l *locationChange, lat, lon string) {
	point, err := targeting.ParsePoint(lat, lon)
	s.note(colLocation, err)
	length, unit := splitUnit(s.text(colRadius))
	if unit == "" {
		if unit = strings.ToLower(s.text(colUnit)); unit != "mi" && unit != "km" {
			s.note(colUnit, errUnit)
			unit = "km"
		}
	}
	radius, ok := metres(length, unit)
	if !ok {
		s.note(colRadius, errRadiusCell)
	}
	l.Circle = targeting.Circle{Point: point, Radius: radius}
}

// twoNumbers splits a cell that is two numbers.
func twoNumbers(cell string) (lat, lon string, ok bool) {
	i := strings.IndexAny(cell, ",:;")
	if i < 0 {
		return "", "", false
	}
	lat, lon = strings.TrimSpace(cell[:i]), strings.TrimSpace(cell[i+1:])
	return lat, lon, isNumber(lat) && isNumber(lon)
}

func isNumber(s string) bool {
	whole, part, pointed := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return digits(whole) && (!pointed || digits(part))
}

// splitUnit cuts mi or km off a length; "": it has none.
func splitUnit(s string) (length, unit string) {
	for _, unit := range [...]string{"mi", "km"} {
		if at := len(s) - len(unit); at >= 0 && strings.EqualFold(s[at:], unit) {
			return strings.TrimSpace(s[:at]), unit
		}
	}
	return s, ""
}

// metresOf are the lengths of units, in millimetres.
var metresOf = map[string]int64{"mi": 1_609_344, "km": 1_000_000}

// metres reads a radius, and cuts it to whole metres once its bounds have been looked at.
func metres(length, unit string) (uint32, bool) {
	const longest = 20
	if len(length) > longest || !isNumber(length) || strings.HasPrefix(length, "-") || metresOf[unit] == 0 {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(length)
	if !ok {
		return 0, false
	}
	r.Mul(r, big.NewRat(metresOf[unit], 1000))
	if r.Cmp(big.NewRat(targeting.MinRadius, 1)) < 0 || r.Cmp(big.NewRat(targeting.MaxRadius, 1)) > 0 {
		return 0, false
	}
	return uint32(new(big.Int).Quo(r.Num(), r.Denom()).Uint64()), true
}

// parseLocationModifier reads a modifier of −90 to +900 % as permille.
func parseLocationModifier(cell string) (uint16, error) {
	n, err := parsePercent(cell)
	if err == nil && n < minLocationModifier || errors.Is(err, errModifier) {
		return 0, errLocationBid
	}
	return n, err
}
