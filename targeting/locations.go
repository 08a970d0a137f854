package targeting

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Method says which of a request's places count.
type Method uint8

// The methods.
const (
	PresenceOrInterest Method = iota // where the user is, and what the query is about; the default
	Presence                         // where the user is
)

// Point is a place on Earth, in millionths of a degree.
type Point struct{ Lat, Lon int32 }

// Circle is all points up to a radius, in metres, from a point.
type Circle struct {
	Point
	Radius uint32
}

// Location is a place of the table of places or, if Place is 0, a circle.
type Location struct {
	Place    uint32
	Circle   Circle
	Exclude  bool
	Modifier uint16 // permille; Default if it is excluded
}

// Locations are a campaign's targets and exclusions: first places, then circles, with each target before its
// exclusion.
type Locations []Location

// Bounds of locations.
const (
	MaxLocations = 10_000 // per campaign
	MinRadius    = 100    // metres
	MaxRadius    = 800_000

	microDegrees = 1_000_000
)

var (
	errLocation  = errors.New("a location has an id, or lat, lon and radius_m")
	errExcluded  = errors.New("an exclusion has no modifier")
	errPlaceID   = errors.New("a place's id is a number from 1 to 4294967295")
	errPoint     = errors.New("lat is −90 to 90 and lon −180 to 180 degrees, with at most 6 decimals")
	errRadius    = fmt.Errorf("a radius is a whole number of %d to %d metres", MinRadius, MaxRadius)
	errBoolean   = errors.New("true or false is expected")
	errSameTwice = errors.New("twice in the list")
)

// ParsePoint reads a point in degrees with at most 6 decimals.
func ParsePoint(lat, lon string) (Point, error) {
	y, ok := decimal(lat, 6)
	x, ok2 := decimal(lon, 6)
	if !ok || !ok2 || y < -90*microDegrees || y > 90*microDegrees || x < -180*microDegrees || x > 180*microDegrees {
		return Point{}, errPoint
	}
	return Point{int32(y), int32(x)}, nil
}

// ParsePlaceID reads a place's id.
func ParsePlaceID(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 || s[0] == '+' {
		return 0, errPlaceID
	}
	return uint32(n), nil
}

// ParseLocations reads the JSON form of serving.md §13. It does not check whether places are in the table.
func ParseLocations(raw []byte) (Locations, error) {
	list, err := elements(raw, MaxLocations)
	if err != nil {
		return nil, err
	}
	l := make(Locations, 0, len(list))
	for _, e := range list {
		one, err := parseLocation(e)
		if err != nil {
			return nil, err
		}
		l = append(l, one)
	}
	return NewLocations(l)
}

func parseLocation(raw []byte) (l Location, err error) {
	var id, lat, lon, radius, exclude, modifier json.RawMessage
	if err := members(raw, map[string]*json.RawMessage{
		"id": &id, "lat": &lat, "lon": &lon, "radius_m": &radius, "exclude": &exclude, "modifier_percent": &modifier,
	}); err != nil {
		return l, err
	}
	switch string(exclude) {
	case "", "false":
	case "true":
		l.Exclude = true
	default:
		return l, errBoolean
	}
	if l.Exclude && modifier != nil {
		return l, errExcluded
	}
	if l.Modifier, err = modifierOf(modifier); err != nil {
		return l, err
	}
	circle := lat != nil || lon != nil || radius != nil
	switch {
	case id != nil && !circle:
		l.Place, err = ParsePlaceID(string(id))
	case id == nil && lat != nil && lon != nil && radius != nil:
		l.Circle, err = parseCircle(string(lat), string(lon), string(radius))
	default:
		err = errLocation
	}
	return l, err
}

func parseCircle(lat, lon, radius string) (c Circle, err error) {
	if c.Point, err = ParsePoint(lat, lon); err != nil {
		return c, err
	}
	n, ok := decimal(radius, 0)
	if !ok || n < MinRadius || n > MaxRadius {
		return c, errRadius
	}
	c.Radius = uint32(n)
	return c, nil
}

// NewLocations returns sorted locations, or an error if there are too many or one is repeated.
func NewLocations(list []Location) (Locations, error) {
	if len(list) > MaxLocations {
		return nil, fmt.Errorf("more than %d locations", MaxLocations)
	}
	l := slices.Clone(list)
	slices.SortFunc(l, compareLocations)
	for i := 1; i < len(l); i++ {
		if compareLocations(l[i-1], l[i]) == 0 {
			return nil, fmt.Errorf("%v %w", l[i], errSameTwice)
		}
	}
	return l, nil
}

// compareLocations compares what makes two locations the same: their place or circle and kind.
func compareLocations(a, b Location) int {
	excluded := func(l Location) int {
		if l.Exclude {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Circle.Lat, b.Circle.Lat), cmp.Compare(a.Circle.Lon, b.Circle.Lon),
		cmp.Compare(a.Circle.Radius, b.Circle.Radius), cmp.Compare(excluded(a), excluded(b)))
}

// Put adds a location, or replaces the one with the same place or circle and kind.
func (l Locations) Put(one Location) (Locations, error) {
	if i := l.index(one); i >= 0 {
		out := slices.Clone(l)
		out[i] = one
		return out, nil
	}
	return NewLocations(append(slices.Clone(l), one))
}

// Remove removes the location with the same place or circle and kind, if there is one.
func (l Locations) Remove(one Location) Locations {
	if i := l.index(one); i >= 0 {
		return slices.Delete(slices.Clone(l), i, i+1)
	}
	return l
}

// Get returns the location with the same place or circle and kind.
func (l Locations) Get(one Location) (Location, bool) {
	if i := l.index(one); i >= 0 {
		return l[i], true
	}
	return Location{}, false
}

func (l Locations) index(one Location) int {
	return slices.IndexFunc(l, func(other Location) bool { return compareLocations(one, other) == 0 })
}

// String names the place or circle.
func (l Location) String() string {
	if l.Place != 0 {
		return "place " + strconv.FormatUint(uint64(l.Place), 10)
	}
	radius, unit := l.Circle.Radius, "m"
	if radius%1000 == 0 {
		radius, unit = radius/1000, "km"
	}
	return fmt.Sprintf("the %d %s around (%s, %s)", radius, unit, formatDecimal(int64(l.Circle.Lat), 6), formatDecimal(int64(l.Circle.Lon), 6))
}

// JSON returns the canonical form, which ParseLocations reads, or "" if there are no locations.
func (l Locations) JSON() string {
	if len(l) == 0 {
		return ""
	}
	var w writer
	w.open('[')
	for _, one := range l {
		w.next()
		w.open('{')
		if one.Place != 0 {
			w.number("id", strconv.FormatUint(uint64(one.Place), 10))
		} else {
			w.number("lat", formatDecimal(int64(one.Circle.Lat), 6))
			w.number("lon", formatDecimal(int64(one.Circle.Lon), 6))
			w.number("radius_m", strconv.FormatUint(uint64(one.Circle.Radius), 10))
		}
		if one.Exclude {
			w.number("exclude", "true")
		} else {
			w.modifier(one.Modifier)
		}
		w.close('}')
	}
	w.close(']')
	return w.String()
}

// earthRadius is the radius of the Earth in metres (serving.md §12.3).
const earthRadius = 6_371_008.8

// Distance returns the distance between two points in metres, by the haversine formula on a sphere.
func Distance(a, b Point) float64 {
	φ1, φ2 := radians(a.Lat), radians(b.Lat)
	sinφ, sinλ := math.Sin((φ2-φ1)/2), math.Sin((radians(b.Lon)-radians(a.Lon))/2)
	h := sinφ*sinφ + math.Cos(φ1)*math.Cos(φ2)*(sinλ*sinλ)
	return 2 * earthRadius * math.Asin(min(1, math.Sqrt(h)))
}

func radians(micro int32) float64 { return float64(micro) / microDegrees * math.Pi / 180 }
