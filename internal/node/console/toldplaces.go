package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
	"adshard/targeting"
)

// locationSentences says where a campaign is shown and where it is not.
func (c *Console) locationSentences(r *http.Request, it *api.Item) []string {
	list, err := targeting.ParseLocations(it.Locations)
	if err != nil {
		return unreadable("locations", err)
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b targeting.Location) int { return cmp.Compare(circles(&a), circles(&b)) })
	var in, out []targeting.Location
	for _, l := range list {
		if l.Exclude {
			out = append(out, l)
		} else {
			in = append(in, l)
		}
	}
	names := c.placeNames(r, slices.Concat(in[:min(shownNames, len(in))], out[:min(shownNames, len(out))]))
	text := "Everywhere but "
	switch {
	case len(in) > 0 && len(out) > 0:
		text = "Only " + locationsText(in, names, "and") + "; not " + locationsText(out, names, "nor")
	case len(in) > 0:
		text = "Only " + locationsText(in, names, "and")
	default:
		text += locationsText(out, names, "and")
	}
	return []string{text + ".", methodSentence(it, len(in) > 0, len(out) > 0)}
}

// circles returns 1 for a circle and 0 for a place, so that places sort first.
func circles(l *targeting.Location) int {
	if l.Place == 0 {
		return 1
	}
	return 0
}

// locationsText names the places and then the circles of a list.
func locationsText(list []targeting.Location, names map[uint32]string, word string) string {
	var where, around []string
	for _, l := range list {
		if l.Place == 0 {
			around = append(around, circleText(&l)+bids(" (", l.Modifier, ")"))
			continue
		}
		name := names[l.Place]
		if name == "" {
			name = fmt.Sprint("place ", l.Place)
		}
		where = append(where, name+bids(" (", l.Modifier, ")"))
	}
	var parts []string
	if len(where) > 0 {
		parts = append(parts, "in "+oneText(shortened(where), "and"))
	}
	if len(around) > 0 {
		parts = append(parts, oneText(shortened(around), "and"))
	}
	return strings.Join(parts, " "+word+" ")
}

func circleText(l *targeting.Location) string {
	radius := fmt.Sprint(l.Circle.Radius, " m")
	if l.Circle.Radius >= 1000 {
		radius = strconv.FormatFloat(float64(l.Circle.Radius)/1000, 'f', -1, 64) + " km"
	}
	return fmt.Sprintf("within %s of %s, %s", radius, degrees(l.Circle.Lat), degrees(l.Circle.Lon))
}

func degrees(micro int32) string {
	return strings.Replace(strconv.FormatFloat(float64(micro)/1e6, 'f', -1, 64), "-", "−", 1)
}

// methodSentence says which places of a request are compared with the campaign's.
func methodSentence(it *api.Item, targets, exclusions bool) string {
	const user, query = "where the user is", "where the user is, and which places the query is about"
	of := func(presence bool) string {
		if presence {
			return user
		}
		return query
	}
	in, out := of(it.LocationMethod == api.ItemLocationMethodPresence), of(it.LocationExclusionMethod == api.ItemLocationExclusionMethodPresence)
	switch {
	case !targets:
		return "What counts is " + out + "."
	case !exclusions || in == out:
		return "What counts is " + in + "."
	}
	return "What counts for showing it is " + in + "; for not showing it, " + out + "."
}

// placeNames returns the names of places, by number, as far as the port's table has them.
func (c *Console) placeNames(r *http.Request, list []targeting.Location) map[uint32]string {
	var ids []string
	for _, l := range list {
		if l.Place != 0 {
			ids = append(ids, strconv.FormatUint(uint64(l.Place), 10))
		}
	}
	return c.namesOf(r, ids)
}

// namesOf returns the names of places by number. The map is empty if the port cannot tell.
func (c *Console) namesOf(r *http.Request, ids []string) map[uint32]string {
	names := map[uint32]string{}
	if len(ids) == 0 {
		return names
	}
	found := new(api.PlaceList)
	if err := ask(c.cfg.API, r, http.MethodGet, "/v1/locations", url.Values{"id": {strings.Join(ids, ",")}}, nil, found); err != nil {
		return names
	}
	for _, p := range found.Locations {
		names[p.ID] = p.CanonicalName
	}
	return names
}
