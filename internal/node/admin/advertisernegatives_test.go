package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"adshard/ingest"
	"adshard/internal/node/httpapi/api"
)

// TestNegativesOfAdvertisers: they are made, listed, paused and removed like those of campaigns, have exactly one owner, and
// are removed with their advertiser.
func TestNegativesOfAdvertisers(t *testing.T) {
	w := newWorld(t)
	w.fill()
	before := w.must("GET", "/v1/advertisers/1", "").header.Get("ETag")
	if c := w.changes(w.must("POST", "/v1/negatives", `{"advertiser_id":1,"text":"never","match_type":"exact"}`)); c.Changes[0].ID != 3 || c.Changes[0].Item.AdvertiserID != 1 {
		t.Fatalf("%+v", c)
	}
	if w.must("GET", "/v1/advertisers/1", "").header.Get("ETag") == before {
		t.Error("the advertiser's ETag does not cover its negatives")
	}
	for _, wrong := range []wrongRequest{
		{"POST", "/v1/negatives", `{"advertiser_id":1,"text":"never","match_type":"exact"}`, 409, "negative 3", nil},
		{"POST", "/v1/negatives", `{"advertiser_id":9,"text":"never","match_type":"exact"}`, 404, "advertiser 9", nil},
		{"POST", "/v1/negatives", `{"advertiser_id":1,"campaign_id":1,"text":"a","match_type":"exact"}`, 400, `"field":"group_id"`, nil},
		{"POST", "/v1/negatives", `{"advertiser_id":1,"group_id":1,"text":"a","match_type":"exact"}`, 400, `"field":"group_id"`, nil},
		{"POST", "/v1/negatives", `{"text":"a","match_type":"exact"}`, 400, `"field":"group_id"`, nil},
		{"POST", "/v1/keywords", `{"advertiser_id":1,"group_id":1,"text":"a","match_type":"exact"}`, 400, `"field":"advertiser_id"`, nil},
		{"GET", "/v1/negatives/3?campaign=1", "", 404, "negative 3 of campaign 1", nil},
		{"GET", "/v1/negatives/2?advertiser=1", "", 404, "negative 2 of advertiser 1", nil},
		{"GET", "/v1/negatives/3?advertiser=1&campaign=1", "", 400, `"field":"group"`, nil},
		{"GET", "/v1/negatives?advertiser=9", "", 404, "advertiser 9", nil},
	} {
		if a := w.ask(wrong.method, wrong.path, wrong.body); a.status != wrong.status || !strings.Contains(a.body, wrong.says) {
			t.Errorf("%s %s %s: %d %s", wrong.method, wrong.path, wrong.body, a.status, a.body)
		}
	}
	for path, want := range map[string]int{"/v1/negatives?advertiser=1": 1, "/v1/negatives?campaign=1": 1, "/v1/negatives?group=1": 1} {
		if l := decode[api.ItemList](w, w.must("GET", path, "")); len(l.Items) != want {
			t.Errorf("%s: %+v", path, l.Items)
		}
	}
	if a := w.must("PATCH", "/v1/negatives/3?advertiser=1", `{"status":"paused"}`); !strings.Contains(a.body, `"advertiser_id":1`) || !strings.Contains(a.body, `"status":"paused"`) {
		t.Error(a.body)
	}
	exported := w.must("GET", "/v1/export", "").body
	const line = `{"type":"negative","advertiser":"Acme","text":"never","match_type":"exact","status":"paused"}`
	if !strings.Contains(exported, line) {
		t.Errorf("exported\n%s", exported)
	}
	w.importedAgain(exported, int64(strings.Count(exported, "\n")), exported)
	var file strings.Builder
	rows, err := ingest.WriteEditorFile(&file, strings.NewReader(exported))
	w.Must(err)
	w.importedAgain(file.String(), int64(rows), withoutLists(exported))
	w.must("DELETE", "/v1/negatives/3?advertiser=1", "")
	if a := w.ask("GET", "/v1/negatives/3?advertiser=1", ""); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
	w.must("POST", "/v1/batch", `{"operations":[{"op":"create","type":"negative","advertiser_id":1,"text":"free","match_type":"broad"},
		{"op":"create","type":"negative","campaign_id":1,"text":"free","match_type":"broad"}]}`)
	w.must("DELETE", "/v1/advertisers/1", "")
	if n, err := w.DB.Counts(t.Context()); err != nil || n.Negatives != 0 {
		t.Errorf("left: %+v, %v", n, err)
	}
}
