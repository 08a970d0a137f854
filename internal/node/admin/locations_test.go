package admin_test

import (
	"strings"
	"testing"

	"adshard/backend"
	"adshard/internal/node/httpapi/api"
	"adshard/places"
)

// TestLocations: places are found by words and by number, in the present table.
func TestLocations(t *testing.T) {
	w := newWorld(t)
	find := func(query string) string {
		t.Helper()
		a := decode[api.PlaceList](w, w.must("GET", "/v1/locations?"+query, "", "Authorization", "Bearer "+readerToken))
		var names []string
		for _, p := range a.Locations {
			names = append(names, p.CanonicalName)
		}
		if a.Version == "" || a.Total < len(names) {
			t.Errorf("%s: %+v", query, a)
		}
		return strings.Join(names, " | ")
	}
	if got := find("find=czech"); got != "Czechia" {
		t.Error(got)
	}
	table, refused := places.Countries().With([]places.Row{
		{ID: 9000001, Name: "Prague", CanonicalName: "Prague,Czechia", Parent: 2203, Country: "CZ", Type: "City"},
		{ID: 9000002, Name: "Prague", CanonicalName: "Prague,Oklahoma,United States", Parent: 2840, Country: "US", Type: "City"},
	})
	if len(refused) > 0 {
		t.Fatal(refused)
	}
	_, err := w.DB.SaveDocument(t.Context(), backend.PlacesDocument, 0, backend.PackDocument(table.Text()))
	w.Must(err)
	for query, want := range map[string]string{
		"find=prague": "Prague,Czechia | Prague,Oklahoma,United States", "find=prague&limit=1": "Prague,Czechia", "find=oklahoma+prague": "Prague,Oklahoma,United States",
		"id=9000001,2203,77": "Czechia | Prague,Czechia", "id=77": "", "find=nowhere": "",
	} {
		if got := find(query); got != want {
			t.Errorf("%s: %q, not %q", query, got, want)
		}
	}
	for query, field := range map[string]string{
		"": "find", "find=": "find", "find=x&id=1": "id", "id=0": "id", "id=x": "id", "id=1,": "id", "id=4294967296": "id",
		"id=" + strings.Repeat("1,", 1000) + "1": "id", "find=x&limit=101": "limit", "find=x&y=1": "y", "find=" + strings.Repeat("x", 257): "find",
	} {
		if a := w.ask("GET", "/v1/locations?"+query, ""); a.status != 400 || !strings.Contains(a.body, `"field":"`+field+`"`) {
			t.Errorf("%.60s: %d %s", query, a.status, a.body)
		}
	}
}
