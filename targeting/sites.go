package targeting

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Site is a page, with everything below it, that a campaign or group names. Its modifier is in
// permille.
type Site struct {
	Page
	Modifier uint16 // Default if it is excluded
}

// Sites are the pages on which a campaign or group is or is not shown. Each list is sorted.
type Sites struct{ Include, Exclude []Site }

// MaxSites bounds the number of sites of an entity, in both lists together.
const MaxSites = 1000

// MaxPageBytes bounds the length of a page that a request or an entity names.
const MaxPageBytes = 512

// ParseSites reads the JSON form of serving.md §13: an object with the lists include and exclude.
func ParseSites(raw []byte) (s Sites, err error) {
	if raw == nil || string(raw) == "null" {
		return s, nil
	}
	var include, exclude json.RawMessage
	if err := members(raw, map[string]*json.RawMessage{"include": &include, "exclude": &exclude}); err != nil {
		return s, err
	}
	if s.Include, err = parseSiteList(include, true); err != nil {
		return s, err
	}
	if s.Exclude, err = parseSiteList(exclude, false); err != nil {
		return s, err
	}
	if len(s.Include)+len(s.Exclude) > MaxSites {
		return s, fmt.Errorf("more than %d sites", MaxSites)
	}
	return s, nil
}

func parseSiteList(raw []byte, modified bool) ([]Site, error) {
	list, err := elements(raw, MaxSites)
	if err != nil {
		return nil, err
	}
	var out []Site
	for _, e := range list {
		var site, modifier json.RawMessage
		if err := members(e, map[string]*json.RawMessage{"site": &site, "modifier_percent": &modifier}); err != nil {
			return nil, err
		}
		name, ok := text(site)
		if !ok || len(name) > MaxPageBytes {
			return nil, errSite
		}
		var s Site
		if s.Page, err = ParsePage(name); err != nil {
			return nil, err
		}
		if len(s.Page.String()) > MaxPageBytes { // the form in the JSON, which must be readable again
			return nil, errSite
		}
		if modifier != nil && !modified {
			return nil, errExcluded
		}
		if s.Modifier, err = modifierOf(modifier); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Site) int { return comparePages(a.Page, b.Page) })
	for i := 1; i < len(out); i++ {
		if out[i-1].Page == out[i].Page {
			return nil, fmt.Errorf("site %q %w", out[i].Page, errSameTwice)
		}
	}
	return out, nil
}

func comparePages(a, b Page) int {
	return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path))
}

// Empty reports whether both lists are empty.
func (s *Sites) Empty() bool { return len(s.Include)+len(s.Exclude) == 0 }

// Overlap reports whether an included and an excluded entry can hold the same page, so that the more specific one decides.
func (s *Sites) Overlap() bool {
	for i := range s.Include {
		for j := range s.Exclude {
			a, b := s.Include[i].Page, s.Exclude[j].Page
			both := a
			if len(b.Host) > len(a.Host) {
				both.Host = b.Host
			}
			if len(b.Path) > len(a.Path) {
				both.Path = b.Path
			}
			if a.holds(both) && b.holds(both) {
				return true
			}
		}
	}
	return false
}

// JSON returns the canonical form, which ParseSites reads, or "" if there are no sites.
func (s Sites) JSON() string {
	if s.Empty() {
		return ""
	}
	var w writer
	w.open('{')
	for _, list := range [...]struct {
		name string
		of   []Site
	}{{"include", s.Include}, {"exclude", s.Exclude}} {
		if len(list.of) == 0 {
			continue
		}
		w.member(list.name)
		w.open('[')
		for _, one := range list.of {
			w.next()
			w.open('{')
			w.member("site")
			w.text(one.Page.String())
			w.modifier(one.Modifier)
			w.close('}')
		}
		w.close(']')
	}
	w.close('}')
	return w.String()
}
