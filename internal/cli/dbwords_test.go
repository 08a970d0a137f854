package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/search"
	"adshard/search/words"
)

// TestDBWords: the version is said, and all that was removed, with what is needed to add it again.
func TestDBWords(t *testing.T) {
	db := "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "ads.csv", editor)); status != exitDone {
		t.Fatal(errOut)
	}
	status, out, errOut := run(t, "adshard", "db", "words", "--db", db)
	if status != exitDone || out != "keys of words "+words.Version()+"; removed: 0\n" || errOut != "" {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	status, out, _ = run(t, "adshard", "db", "words", "--db", db, "--json")
	var got struct {
		Version string
		Removed []any
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != exitDone || got.Version != words.Version() || got.Removed == nil {
		t.Errorf("%d %v %s", status, err, out)
	}
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
