package up

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/database"
	"adshard/internal/node/httpapi/api"
)

// TestEvents closes the loop on a whole cluster: the token of an answer comes back as a click,
// the budget is spent, and the campaign is in no answer any more.
func TestEvents(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 2))
	cfg.Slaves, cfg.Collector = 1, loopback
	limit(t, cfg.DB, 50_000)
	c := startUp(t, cfg)
	events := c.collector(t)
	first := c.ads(t)
	if len(first) != 2 || first[0].EventToken == first[1].EventToken || first[0].PriceMicros < 50_000 || first[1].PriceMicros >= 50_000 {
		t.Fatalf("%+v", first)
	}
	count(t, events, first[0].EventToken)
	count(t, events, first[1].EventToken)
	left := first
	for began := time.Now(); len(left) != 1; left = c.ads(t) {
		if time.Since(began) > 2*time.Second { // one to be marked, one to reach the answers
			t.Fatalf("still served: %+v", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if left[0].CampaignID != first[1].CampaignID {
		t.Errorf("%+v is left, its budget is not spent: %+v", left, first[1])
	}
}

// limit gives all campaigns a daily budget.
func limit(t *testing.T, url string, budget uint64) {
	t.Helper()
	db, err := database.Open(t.Context(), url, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for advertiser := range uint64(2) {
		if _, err := tx.Campaign(t.Context(), advertiser+1, "c", backend.CampaignPatch{DailyBudget: backend.To(budget)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// collector returns the address of events.
func (c *cluster) collector(t *testing.T) string {
	t.Helper()
	for _, line := range c.lines {
		if strings.HasPrefix(line, "collector ") {
			return line[strings.Index(line, "ready ")+len("ready "):]
		}
	}
	t.Fatalf("no collector in %q", c.lines)
	return ""
}

// ads returns the ads of a query, once they have tokens.
func (c *cluster) ads(t *testing.T) []api.Ad {
	t.Helper()
	for range 100 {
		res, err := http.Get(c.url + "/v1/search?q=usb+cable&strict=true")
		if err != nil {
			t.Fatal(err)
		}
		var a api.SearchAnswer
		err = json.NewDecoder(res.Body).Decode(&a)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Ads) == 0 || a.Ads[0].EventToken != "" {
			return a.Ads
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("ads have no tokens")
	return nil
}

// count sends a click twice, of which one counts.
func count(t *testing.T, url, token string) {
	t.Helper()
	body := fmt.Sprintf(`{"events":[{"kind":"click","token":%q},{"kind":"click","token":%q}]}`, token, token)
	res, err := http.Post(url+"/v1/events", "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var a api.EventsAnswer
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil || a.Counted != 1 || a.Duplicate != 1 {
		t.Fatalf("%d %+v, %v", res.StatusCode, a, err)
	}
}
