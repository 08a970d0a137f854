package admin_test

import (
	"strings"
	"testing"

	"adshard/backend"
	"adshard/ingest"
)

// importedAgain checks that a file made from an export, with the given number of rows, changes nothing in its own
// database, and makes the same data in an empty one.
func (w *world) importedAgain(file string, rows int64, exported string) {
	w.T.Helper()
	imported := func(db backend.Store) ingest.Summary {
		w.T.Helper()
		sum, err := ingest.Run(w.T.Context(), db, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file)})
		if err != nil || sum.Rejected != 0 || sum.Rows != rows {
			w.T.Fatalf("%+v, %v", sum, err)
		}
		return sum
	}
	before := w.clock()
	if sum := imported(w.DB); sum.ClockAfter != before {
		w.T.Errorf("the clock went from %d to %d: %+v", before, sum.ClockAfter, sum.Entities)
	}
	other := newWorld(w.T)
	imported(other.DB)
	if again := other.must("GET", "/v1/export", "").body; again != exported {
		w.T.Errorf("exported\n%s\nand again\n%s", exported, again)
	}
}

// withoutLists returns an export without its block lists, which an Editor file does not have.
func withoutLists(exported string) string {
	exported, _, _ = strings.Cut(exported, `{"type":"blocklist"`)
	return exported
}

// TestExportIsImportedAgain: an export changes nothing in its own database, and makes the same data in an empty one.
func TestExportIsImportedAgain(t *testing.T) {
	w := newWorld(t)
	w.fill()
	w.Write(3, 4, 5, 70_000)
	w.must("PATCH", "/v1/groups/1", `{"desktop_bid_modifier":0.1,"mobile_bid_modifier":-100,"tablet_bid_modifier":899.9}`)
	w.must("POST", "/v1/advertisers", `{"name":"Ünïcode \"quoted\", <&> \\ line\nbreak","status":"paused"}`)
	w.must("POST", "/v1/keywords", `{"group_id":1,"text":"=c++ \"x\"","match_type":"broad","max_cpc_micros":0,"status":"paused"}`)
	w.must("POST", "/v1/ads", `{"group_id":1,"headlines":["a","b"],"descriptions":["[]"],"path_1":"p","final_url":"https://a.example/?q=1&r=2"}`)
	w.must("POST", "/v1/blocklists", `{"name":"empty"}`)
	w.must("POST", "/v1/blocklists", `{"name":"kids","advertisers":[1,77],"domains":["casino.example"],"categories":["alcohol"],"block_uncategorised":true}`)
	exported := w.must("GET", "/v1/export", "", "Authorization", "Bearer "+readerToken).body
	w.importedAgain(exported, int64(strings.Count(exported, "\n")), exported)
	if lists := exported[strings.Index(exported, `{"type":"blocklist"`):]; strings.Count(lists, "\n") != 3 ||
		!strings.HasSuffix(lists, `"domains":["casino.example"],"categories":["alcohol"],"block_uncategorised":true}`+"\n") || strings.Count(lists, `["Acme"]`) != 1 {
		t.Errorf("lists:\n%s", lists)
	}
	one := w.must("GET", "/v1/export?advertiser=1", "").body
	if !strings.HasPrefix(exported, one) || strings.Count(one, `"type":"advertiser"`) != 1 {
		t.Errorf("of one advertiser:\n%s", one)
	}
}

// TestEditorFileIsImportedAgain: the same is true for an export as a Google Ads Editor file.
func TestEditorFileIsImportedAgain(t *testing.T) {
	w := newWorld(t)
	w.fill()
	w.Write(3, 4, 5, 70_000)
	w.must("PATCH", "/v1/campaigns/1", `{"delivery_method":"standard","ad_rotation":"even"}`)
	w.must("PATCH", "/v1/groups/1", `{"desktop_bid_modifier":0.1,"mobile_bid_modifier":-100,"tablet_bid_modifier":899.9,"status":"paused"}`)
	w.must("POST", "/v1/campaigns", `{"advertiser_id":1,"name":"Ünïcode \"quoted\", <&> \\ line\nbreak","status":"paused"}`)
	w.must("POST", "/v1/keywords", `{"group_id":1,"text":"\"=c++ x\"","match_type":"broad","max_cpc_micros":123456,"status":"paused"}`)
	w.must("POST", "/v1/ads", `{"group_id":1,"headlines":["a","b"],"descriptions":["'d"],"path_1":"p","final_url":"https://a.example/?q=1&r=2"}`)
	exported := withoutLists(w.must("GET", "/v1/export", "").body)
	var file strings.Builder
	rows, err := ingest.WriteEditorFile(&file, strings.NewReader(exported))
	w.Must(err)
	if lines := strings.Count(exported, "\n") - strings.Count(exported, `"type":"advertiser"`); int(rows) != lines {
		t.Errorf("%d rows of %d lines", rows, lines)
	}
	w.importedAgain(file.String(), int64(rows), exported)
}
