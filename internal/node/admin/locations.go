package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/places"
)

const locationsPath = "/v1/locations"

// Bounds of a search for places, as in openapi.yaml.
const (
	defaultFound = 20
	maxFound     = 100
	maxFind      = 256
	maxNumbers   = 1000
)

// findQuery holds the parameters of a search for places.
type findQuery struct {
	find  string
	ids   []uint32
	limit int
}

// Set implements api.Params.
func (q *findQuery) Set(name string, v api.Value) (field int, err error) {
	switch name {
	case "find":
		q.find, err = filled(v, name, maxFind)
		return 0, err
	case "id":
		q.ids, err = numbers(v.Raw)
		return 1, err
	case "limit":
		q.limit, err = v.Integer(name, 1, maxFound)
		return 2, err
	}
	return 0, api.Unknown(name, "find", "id", "limit")
}

// Required implements api.Params.
func (q *findQuery) Required(given uint64) string {
	if given&2 != 0 {
		return ""
	}
	return missing(given, "find")
}

// numbers reads a comma-separated list of the numbers of places.
func numbers(text string) (list []uint32, err error) {
	for one := range strings.SplitSeq(text, ",") {
		id, err := places.ParseID(one)
		if err != nil || one[0] == '+' || len(list) == maxNumbers {
			return nil, fault.Field("admin", "id", "id must be at most %d numbers of places, with commas between", maxNumbers)
		}
		list = append(list, id)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// locations finds places by words of their names, or by number.
func (c *Config) locations(w http.ResponseWriter, r *http.Request) {
	q := findQuery{limit: defaultFound}
	err := api.FromQuery(&q, r.URL.RawQuery)
	switch {
	case err != nil:
	case q.find != "" && q.ids != nil:
		err = fault.Field("admin", "id", "find and id cannot be given together")
	case r.ContentLength != 0:
		err = fault.Field("admin", "", "%s %s has no body", r.Method, r.URL.Path)
	}
	if err != nil {
		refuseUnread(w, r, err)
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.PlaceList, error) { return c.findPlaces(ctx, &q) })
}

func (c *Config) findPlaces(ctx context.Context, q *findQuery) (*api.PlaceList, error) {
	table, err := c.Places(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.PlaceList{Locations: []api.Place{}, Version: table.Version()}
	if q.find == "" {
		for _, id := range q.ids {
			if row, ok := table.Place(id); ok {
				out.Locations = append(out.Locations, placeOf(&row))
			}
		}
		out.Total = len(out.Locations)
		return out, nil
	}
	found, total, err := table.Find(q.find, q.limit)
	if err != nil {
		return nil, fault.Field("admin", "find", "find: %w", err)
	}
	for i := range found {
		out.Locations = append(out.Locations, placeOf(&found[i]))
	}
	out.Total = total
	return out, nil
}

func placeOf(r *places.Row) api.Place {
	return api.Place{ID: r.ID, Name: r.Name, CanonicalName: r.CanonicalName, Type: r.Type, Country: r.Country, ParentID: r.Parent, Status: r.Status}
}
