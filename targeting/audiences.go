package targeting

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Segment is an audience segment, named by an opaque id, with a modifier in permille.
type Segment struct {
	ID       string
	Modifier uint16 // Default if it is excluded
}

// Audiences are the segments that a campaign or group targets, observes or excludes. Each list is sorted by
// id.
type Audiences struct{ Target, Observe, Exclude []Segment }

// Bounds of audiences.
const (
	MaxSegments     = 1000 // per entity, in all lists together
	MaxSegmentBytes = 64
)

var errSegment = fmt.Errorf("a segment is 1 to %d bytes without outer white space", MaxSegmentBytes)

// CheckSegment returns an error if a segment's id is not valid.
func CheckSegment(id string) error {
	first, _ := utf8.DecodeRuneInString(id)
	last, _ := utf8.DecodeLastRuneInString(id)
	if id == "" || len(id) > MaxSegmentBytes || !utf8.ValidString(id) || unicode.IsSpace(first) || unicode.IsSpace(last) {
		return errSegment
	}
	return nil
}

// ParseAudiences reads the JSON form of serving.md §13: an object with the lists target, observe and exclude.
func ParseAudiences(raw []byte) (a Audiences, err error) {
	if raw == nil || string(raw) == "null" {
		return a, nil
	}
	var target, observe, exclude json.RawMessage
	if err := members(raw, map[string]*json.RawMessage{"target": &target, "observe": &observe, "exclude": &exclude}); err != nil {
		return a, err
	}
	if a.Target, err = parseSegments(target, true); err != nil {
		return a, err
	}
	if a.Observe, err = parseSegments(observe, true); err != nil {
		return a, err
	}
	if a.Exclude, err = parseSegments(exclude, false); err != nil {
		return a, err
	}
	if len(a.Target)+len(a.Observe)+len(a.Exclude) > MaxSegments {
		return a, fmt.Errorf("more than %d segments", MaxSegments)
	}
	return a, nil
}

func parseSegments(raw []byte, modified bool) ([]Segment, error) {
	list, err := elements(raw, MaxSegments)
	if err != nil {
		return nil, err
	}
	var out []Segment
	for _, e := range list {
		var id, modifier json.RawMessage
		if err := members(e, map[string]*json.RawMessage{"id": &id, "modifier_percent": &modifier}); err != nil {
			return nil, err
		}
		s := Segment{}
		s.ID, _ = text(id)
		if err := CheckSegment(s.ID); err != nil {
			return nil, err
		}
		if modifier != nil && !modified {
			return nil, errExcluded
		}
		if s.Modifier, err = modifierOf(modifier); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Segment) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(out); i++ {
		if out[i-1].ID == out[i].ID {
			return nil, fmt.Errorf("segment %q %w", out[i].ID, errSameTwice)
		}
	}
	return out, nil
}

// Empty reports whether all lists are empty.
func (a *Audiences) Empty() bool { return len(a.Target)+len(a.Observe)+len(a.Exclude) == 0 }

// JSON returns the canonical form, which ParseAudiences reads, or "" if the audiences are empty.
func (a Audiences) JSON() string {
	if a.Empty() {
		return ""
	}
	var w writer
	w.open('{')
	for _, list := range [...]struct {
		name string
		of   []Segment
	}{{"target", a.Target}, {"observe", a.Observe}, {"exclude", a.Exclude}} {
		if len(list.of) == 0 {
			continue
		}
		w.member(list.name)
		w.open('[')
		for _, s := range list.of {
			w.next()
			w.open('{')
			w.member("id")
			w.text(s.ID)
			w.modifier(s.Modifier)
			w.close('}')
		}
		w.close(']')
	}
	w.close('}')
	return w.String()
}

// Categories are paths such as alcohol/wine, sorted and without repetitions.
type Categories []string

// Bounds of categories.
const (
	maxCategories       = 32 // per entity
	maxCategorySegments = 8
	maxCategorySegment  = 32 // characters
)

var errCategory = errors.New("a category is 1 to 8 segments of 1 to 32 characters of a-z0-9-_. joined by /")

// CheckCategory returns an error if a category is not valid.
func CheckCategory(c string) error {
	segments := strings.Split(c, "/")
	if len(segments) > maxCategorySegments {
		return errCategory
	}
	for _, s := range segments {
		if s == "" || len(s) > maxCategorySegment || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			return errCategory
		}
	}
	return nil
}

// ParseCategories reads a JSON list of categories and removes repetitions.
func ParseCategories(raw []byte) (Categories, error) {
	list, err := elements(raw, 1000)
	if err != nil {
		return nil, err
	}
	var out Categories
	for _, e := range list {
		c, _ := text(e)
		if err := CheckCategory(c); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > maxCategories {
		return nil, fmt.Errorf("more than %d categories", maxCategories)
	}
	return out, nil
}

// JSON returns the canonical form, which ParseCategories reads, or "" if there are no categories.
func (c Categories) JSON() string {
	if len(c) == 0 {
		return ""
	}
	var w writer
	w.open('[')
	for _, one := range c {
		w.next()
		w.text(one)
	}
	w.close(']')
	return w.String()
}
