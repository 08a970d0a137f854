package up

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// TestUpCorrects: soon after its start a cluster corrects misspelt words of broad keywords for requests that ask for it, says by which
// vocabulary, and says of others nothing new.
func TestUpCorrects(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 20))
	cfg.Transport = TransportStream
	c := startUp(t, cfg)
	ask := func(variants string) (a struct {
		searchAnswer
		Vocabulary *string `json:"vocabulary_version"`
		Ads        []struct {
			Variant string `json:"variant"`
		} `json:"ads"`
	}) {
		t.Helper()
		body := get(t, c.url+"/v1/search?"+url.Values{"q": {"usb cabel"}, "counts": {"exact"}, "timeout_ms": {"5000"}, "variants": {variants}}.Encode(), http.StatusOK)
		if err := json.Unmarshal([]byte(body), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		a := ask("misspelt")
		if a.Vocabulary == nil {
			t.Fatal("an answer does not name the vocabulary")
		}
		if *a.Vocabulary != "none" {
			if a.Matched != 20 || len(a.Ads) != 4 || a.Ads[0].Variant != "misspelt" || !a.Coverage.Complete {
				t.Errorf("%+v", a)
			}
			break
		}
		if a.Matched != 0 || time.Now().After(end) {
			t.Fatalf("without a vocabulary: %+v", a)
		}
	}
	if a := ask("synonym"); a.Matched != 0 || a.Vocabulary != nil {
		t.Errorf("not asked for: %+v", a)
	}
}
