package up

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/money"
	"adshard/internal/node/collector"
	"adshard/internal/node/database"
	"adshard/internal/node/home"
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
		if time.Since(began) > patience {
			t.Fatalf("still served: %+v", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if left[0].CampaignID != first[1].CampaignID {
		t.Errorf("%+v is left, its budget is not spent: %+v", left, first[1])
	}
	c.showsSpend(t, first)
}

// showsSpend checks what the admin port and the console show of campaigns whose ads were clicked on once.
func (c *cluster) showsSpend(t *testing.T, clicked []api.Ad) {
	t.Helper()
	for _, ad := range clicked {
		var a api.ItemAnswer
		if err := json.Unmarshal([]byte(c.page(t, fmt.Sprint("/v1/campaigns/", ad.CampaignID))), &a); err != nil {
			t.Fatal(err)
		}
		if a.Item.SpentMicros == nil || *a.Item.SpentMicros != ad.PriceMicros {
			t.Errorf("campaign %d: %+v, a click cost %d", ad.CampaignID, a.Item, ad.PriceMicros)
		}
		spent := money.Format(ad.PriceMicros)
		if page := c.page(t, fmt.Sprint("/console/data/campaigns/", ad.CampaignID)); !strings.Contains(page, "<dt>Spent today</dt><dd>"+spent+"<small>") {
			t.Errorf("no %s in %s", spent, page)
		}
		if page := c.page(t, fmt.Sprint("/console/data/advertisers/", a.Item.AdvertiserID)); !strings.Contains(page, `<td data-l="Spent today" class="n"><span>`+spent+"<br>") {
			t.Errorf("no %s in %s", spent, page)
		}
	}
}

// page returns one of the admin port.
func (c *cluster) page(t *testing.T, path string) string {
	t.Helper()
	res, err := http.Get(c.admin + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", path, res.StatusCode, body, err)
	}
	return string(body)
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
			return line[strings.Index(line, "listening ")+len("listening "):]
		}
	}
	t.Fatalf("no collector in %q", c.lines)
	return ""
}

// ads returns the ads of a query, once they have tokens.
func (c *cluster) ads(t *testing.T) []api.Ad {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		res, err := http.Get(c.url + "/v1/search?q=usb+cable&strict=true&timeout_ms=5000")
		if err != nil {
			t.Fatal(err)
		}
		var a api.SearchAnswer
		err = json.NewDecoder(res.Body).Decode(&a)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode == http.StatusOK && (len(a.Ads) == 0 || a.Ads[0].EventToken != "") {
			return a.Ads
		}
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

// TestLearnedInUp: a cluster that learns serves keywords with what was clicked, and explains it.
func TestLearnedInUp(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 2))
	cfg.Slaves, cfg.Collector, cfg.Quality, cfg.LearnEvery = 1, loopback, collector.QualityLearned, time.Second
	c := startUp(t, cfg)
	counter := c.collector(t)
	ad := c.ads(t)[0]
	for range 5 {
		again := c.ads(t)[0]
		body := fmt.Sprintf(`{"events":[{"kind":"impression","token":%q},{"kind":"click","token":%q}]}`, again.EventToken, again.EventToken)
		res, err := http.Post(counter+"/v1/events", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatal(res.Status)
		}
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("no explanation has what was counted")
		}
		status, body := answer(t, "GET", c.admin+"/v1/explain?q=usb+cable&timeout_ms=5000", "")
		var a api.ExplainAnswer
		if err := json.Unmarshal([]byte(body), &a); status != http.StatusOK || err != nil {
			t.Fatal(status, body, err)
		}
		for _, m := range a.Matches {
			if l := m.Learned; m.KeywordID == ad.KeywordID && l != nil && l.Clicks >= 1 && l.Impressions >= l.Clicks && l.GivenQuality == 5 && m.QualityPoints > 5 {
				return
			}
		}
	}
}

// TestCollectorOfUp: what a cluster's configuration says of its collector is the collector's, and checked.
func TestCollectorOfUp(t *testing.T) {
	cfg := upConfig(t, "sqlite:x.db")
	cfg.Collector, cfg.KeepEvents, cfg.Quality, cfg.LearnEvery = loopback, 720*time.Hour, collector.QualityLearned, 2*time.Hour
	got := cfg.collector(new(home.Dir))
	if cfg.Validate() != nil || got.KeepEvents != 720*time.Hour || got.Quality != collector.QualityLearned || got.LearnEvery != 2*time.Hour {
		t.Errorf("%+v, %v", got, cfg.Validate())
	}
	for name, change := range map[string]func(*Config){
		"keep_events": func(c *Config) { c.KeepEvents = time.Hour }, "quality": func(c *Config) { c.Quality = "x" },
		"learn_every": func(c *Config) { c.LearnEvery = 0 }, "(collector)": func(c *Config) { c.Collector = "" },
	} {
		wrong := cfg
		change(&wrong)
		if err := wrong.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
