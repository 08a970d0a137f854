package searchapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"adshard/events/token"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/httpapi/apitest"
)

// oneKey returns a ring with one key.
func oneKey(t testing.TB) func() *token.Ring {
	t.Helper()
	r, err := token.NewRing([]token.Key{{Number: 1, Secret: bytes.Repeat([]byte{1}, token.SecretSize)}})
	if err != nil {
		t.Fatal(err)
	}
	return func() *token.Ring { return r }
}

// TestEventTokens: each ad has a separate token that matches what the answer says about the ad. Two
// answers to the same query have different tokens.
func TestEventTokens(t *testing.T) {
	f := &fake{answer: whole(hit(7, 1, 2_000_000, 360_000), hit(9, 2, 1_500_000, 360_000), hit(8, 3, 100_000, 300_000))}
	c := configured(f)
	keys := oneKey(t)
	c.EventKeys = keys
	h := New(c)
	seen := make(map[token.ID]bool)
	queries := make(map[uint64]bool)
	for _, path := range []string{"/v1/search?q=usb+kabel", "/v1/search?q=usb+kabel", "/v1/search?q=USB,kabel", "/v1/search?q=kabel+usb"} {
		res, body := get(t, h, path)
		apitest.Read(t, httpapi.Spec).Answers(t, "/v1/search", "GET", res, body)
		var a api.SearchAnswer
		if err := json.Unmarshal([]byte(body), &a); err != nil || len(a.Ads) != 3 {
			t.Fatal(err, body)
		}
		for _, ad := range a.Ads {
			v, id, err := keys().Open([]byte(ad.EventToken))
			if err != nil || seen[id] {
				t.Fatalf("%s: %v, seen before: %v", ad.EventToken, err, seen[id])
			}
			seen[id], queries[v.Query] = true, true
			if age := time.Since(v.Served); age < -time.Second || age > time.Minute {
				t.Errorf("served %v ago", age)
			}
			v.Served, v.Nonce, v.Query = time.Time{}, 0, 0
			want := token.Token{Position: uint8(ad.Position), Advertiser: ad.AdvertiserID, Campaign: ad.CampaignID, Keyword: ad.KeywordID,
				Ad: ad.AdID, Price: ad.PriceMicros}
			if v != want {
				t.Errorf("the token says %+v, the answer %+v", v, want)
			}
		}
	}
	if len(queries) != 2 {
		t.Errorf("%d hashes of two orders of words", len(queries))
	}
}

// TestNoEventTokens: without a key, or with tokens turned off, answers contain no tokens.
func TestNoEventTokens(t *testing.T) {
	for name, keys := range map[string]func() *token.Ring{"off": nil, "no key yet": func() *token.Ring { return new(token.Ring) }} {
		c := configured(&fake{answer: whole(hit(7, 1, 2_000_000, 360_000))})
		c.EventKeys = keys
		res, body := get(t, New(c), "/v1/search?q=usb+kabel")
		if res.StatusCode != http.StatusOK || strings.Contains(body, "event_token") {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
}
