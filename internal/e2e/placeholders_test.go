package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"adshard/internal/goldentest"
	"adshard/internal/node/httpapi/api"
	"adshard/schema/pb"
)

// placeholderWant is the answer to a query of the golden set of placeholders.
type placeholderWant struct {
	Query     string
	RequestID string `json:"request_id"`
	Ads       []placeholderAd
	// Defaults are the texts of the first ad in which a default replaces a placeholder.
	Defaults []string `json:"default_texts"`
}

// placeholderAd has the parts of an ad that an answer shows.
type placeholderAd struct {
	Advertiser              string
	Price                   uint64 `json:"price_micros"`
	Headlines, Descriptions []string
	Path                    string
	FinalURL                string `json:"final_url"`
}

// TestGoldenPlaceholders: ads are shown with the texts of the golden set, over HTTP and gRPC and for each placement.
// An explanation tells where a default was used, and an export has the ads as they were written.
func TestGoldenPlaceholders(t *testing.T) {
	file := goldentest.Read(t, "placeholders/editor.csv")
	db := importEditor(t, file, 10)
	for slaves, built := range map[int]bool{1: true, 3: false} {
		t.Run(fmt.Sprintf("slaves=%d", slaves), func(t *testing.T) {
			c := startCluster(t, db, slaves, built, "default")
			for line := range bytes.Lines(goldentest.Read(t, "placeholders/want.jsonl")) {
				var w placeholderWant
				if err := json.Unmarshal(line, &w); err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second time the shown texts come from the cache
					comparePlaceholders(t, c, &w)
				}
			}
		})
	}
	writtenAsItWas(t, db)
}

func comparePlaceholders(t *testing.T, c *cluster, w *placeholderWant) {
	t.Helper()
	get := func(path string, into any) {
		page := c.pageWith(t, c.http+path+"?"+url.Values{"q": {w.Query}, "timeout_ms": {"5000"}}.Encode(), http.Header{"X-Request-Id": {w.RequestID}})
		if err := json.Unmarshal([]byte(page), into); err != nil {
			t.Fatalf("%v in %s", err, page)
		}
	}
	var found struct{ Ads []placeholderAd }
	get("/v1/search", &found)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m, err := c.calls.Search(ctx, &pb.AdsRequest{Q: w.Query, TimeoutMs: 5000, RequestId: w.RequestID})
	if err != nil {
		t.Fatal(err)
	}
	var called []placeholderAd
	for _, p := range m.Ads {
		called = append(called, placeholderAd{p.Advertiser, p.PriceMicros, p.Headlines, append([]string{}, p.Descriptions...), p.Path, p.FinalUrl})
	}
	if !reflect.DeepEqual(found.Ads, w.Ads) || !reflect.DeepEqual(called, w.Ads) {
		t.Errorf("%q over HTTP: %+v\nover gRPC: %+v\nwant %+v", w.Query, found.Ads, called, w.Ads)
	}
	var why api.ExplainAnswer
	get("/v1/explain", &why)
	for _, k := range why.Matches {
		switch {
		case k.Advertiser == "Gone":
			if k.Verdict != api.VerdictNoAd || !strings.Contains(k.Reason, "no enabled ad with a headline") {
				t.Errorf("%q, without a headline: %s", w.Query, k.Reason)
			}
		case k.Advertiser == "Shop":
			if !reflect.DeepEqual(k.DefaultTexts, w.Defaults) || len(w.Defaults) > 0 && !strings.Contains(k.Reason, fmt.Sprintf("stands in %q", w.Defaults[0])) {
				t.Errorf("%q: %q, %q; want %q", w.Query, k.DefaultTexts, k.Reason, w.Defaults)
			}
		}
	}
}

// writtenAsItWas checks that the database has the ads of the file as they were written.
func writtenAsItWas(t *testing.T, db string) {
	t.Helper()
	items := readAll(t, db).items
	if len(items) < 2 {
		t.Fatalf("%d items", len(items))
	}
	gone, shop := items[0].Ads[0], items[1].Ads[0]
	if gone.Headlines[0] != "{LOCATION(City)}" || gone.Headlines[1] != "{KeyWord:}" || shop.Headlines[0] != "Buy {KeyWord:Sweets} Now" || shop.Path2 != "{LOCATION(City)}" {
		t.Errorf("stored are %+v and %+v", gone, shop)
	}
}
