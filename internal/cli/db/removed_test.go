package db

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/search"
)

// TestRemovedWords: removed phrases are listed with all that is needed to add them again.
func TestRemovedWords(t *testing.T) {
	report := &backend.WordsReport{Version: "v", Removed: []backend.RemovedPhrase{
		{ID: 7, Group: 3, Text: "head\u00adphones", Type: search.Phrase, Enabled: true, HasBid: true, Bid: 250_000, Quality: 5, Kept: 2},
		{ID: 8, Group: 3, Text: "\u3164", Type: search.Broad, Quality: 5, Why: "no word"},
		{ID: 9, Negative: true, Campaign: 4, Text: "free", Type: search.Exact, Enabled: true, Kept: 1},
		{ID: 11, Negative: true, Advertiser: 5, Text: "free", Type: search.Exact, Enabled: true, Kept: 10},
	}}
	const want = `keyword 7 of ad group 3, phrase "head\u00adphones", bid 0.25: one with keyword 2 now
keyword 8 of ad group 3, broad "` + "\u3164" + `", paused: no word
negative 9 of campaign 4, exact "free": one with negative 1 now
negative 11 of advertiser 5, exact "free": one with negative 10 now
keys of words v; removed: 4
`
	var b bytes.Buffer
	if err := showWords(&b, report); err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
	raw, err := json.Marshal(wordsJSON(report))
	if err != nil || !strings.Contains(string(raw), `"match_type":"phrase"`) || strings.Contains(string(raw), `"match_type":1`) {
		t.Errorf("%v %s", err, raw)
	}
}
