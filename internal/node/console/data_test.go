package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/ingest"
	"adshard/internal/node/admin"
	"adshard/internal/node/data"
	"adshard/internal/node/nodetest"
)

// shop is an advertiser with two campaigns. One group of the first campaign has everything that a
// group can have.
const shop = `
{"type":"campaign","advertiser":"Čapek <& Söhne>","name":"Cables","languages":["cs","en"],"daily_budget_micros":120500000,"locations":[{"id":2203},{"lat":48.208,"lon":16.373,"radius_m":15000},{"id":2276,"exclude":true}],"schedule":[{"day":"monday","from":"08:00","to":"18:00","modifier_percent":20},{"day":"tuesday","from":"08:00","to":"18:00","modifier_percent":20},{"day":"wednesday","from":"08:00","to":"18:00","modifier_percent":20},{"day":"thursday","from":"08:00","to":"18:00","modifier_percent":20},{"day":"friday","from":"08:00","to":"18:00","modifier_percent":20}]}
{"type":"campaign","advertiser":"Čapek <& Söhne>","name":"Shoes","status":"paused"}
{"type":"negative","advertiser":"Čapek <& Söhne>","campaign":"Cables","text":"free","match_type":"phrase"}
{"type":"group","advertiser":"Čapek <& Söhne>","campaign":"Cables","name":"USB","max_cpc_micros":450000,"mobile_bid_modifier":-20}
{"type":"keyword","advertiser":"Čapek <& Söhne>","campaign":"Cables","group":"USB","text":"usb cable","match_type":"broad","max_cpc_micros":1234567}
{"type":"keyword","advertiser":"Čapek <& Söhne>","campaign":"Cables","group":"USB","text":"usb c","match_type":"exact"}
{"type":"negative","advertiser":"Čapek <& Söhne>","campaign":"Cables","group":"USB","text":"broken","match_type":"broad"}
{"type":"ad","advertiser":"Čapek <& Söhne>","campaign":"Cables","group":"USB","headlines":["USB <cable>","Cheap"],"descriptions":["1 m, black"],"final_url":"https://example.com/?a=1"}
{"type":"group","advertiser":"Čapek <& Söhne>","campaign":"Cables","name":"HDMI"}
{"type":"negative","advertiser":"Čapek <& Söhne>","text":"never mind","match_type":"exact"}
`

// fill imports JSON lines into a new database, and returns the setting that connects a port to it.
// `served` is the result of waiting for slaves to serve a change.
func fill(t testing.TB, lines string, served error) (*nodetest.Database, func(*admin.Config)) {
	t.Helper()
	db := nodetest.NewDatabase(t)
	sum, err := ingest.Run(t.Context(), db.DB, []string{"-"}, ingest.Options{Stdin: strings.NewReader(strings.TrimSpace(lines))})
	if err != nil || sum.Rejected > 0 {
		t.Fatal(err, sum.First)
	}
	return db, func(c *admin.Config) {
		c.Data = data.New(db.DB, func(context.Context, uint64) error { return served }, c.Log)
	}
}

// TestDataIsATree: the page of each level shows its contents and the path to it.
func TestDataIsATree(t *testing.T) {
	_, with := fill(t, shop, nil)
	b := &browser{t: t, port: newPort(t, false, with)}
	has(t, b.get("/console/overview"), 200, `href="/console/data"`)
	has(t, b.get("/console/data"), 200, `href="/console/data/advertisers/1">Čapek &lt;&amp; Söhne&gt;</a>`, ">enabled<", ">UTC<", `Advertisers <span class="word">1</span>`)
	has(t, b.get("/console/data/advertisers/1"), 200, `href="/console/data/campaigns/1">Cables`, "120.5", "cs, en", `href="/console/data/campaigns/2">Shoes`, ">paused<", ">Resume<")
	has(t, b.get("/console/data/campaigns/1"), 200, `href="/console/data/advertisers/1"`, `href="/console/data/groups/1">USB`, "0.45", "HDMI", "free", "phrase", "accelerated")
	w := b.get("/console/data/groups/1")
	has(t, w, 200, `href="/console/data/campaigns/1"`, "usb cable", "broad", "1.234567", "the group's", "broken", "USB &lt;cable&gt; – Cheap", "https://example.com/?a=1", "1 m, black", "−20 %")
	lacks(t, w, "Nothing here is shown")
	has(t, b.get("/console/data/groups/2"), 200, "There is none.")
	for path, status := range map[string]int{"groups/9": 404, "groups/x": 400, "keywords/1": 404, "none/1": 404, "groups/..%2F..%2Flivez": 400} {
		has(t, b.get("/console/data/"+path), status, `role="alert"`)
	}
	has(t, b.get("/console/query?q=usb"), 200, `href="/console/data/groups/101?find=1"`)
	lacks(t, (&browser{t: t, port: newPort(t, false)}).get("/console/query?q=usb"), "/console/data")
}

func TestDataIsFound(t *testing.T) {
	var lines strings.Builder
	lines.WriteString(shop)
	for i := range 250 {
		fmt.Fprintf(&lines, `{"type":"campaign","advertiser":"Many","name":"campaign %d"}`+"\n", i)
	}
	_, with := fill(t, lines.String(), nil)
	b := &browser{t: t, port: newPort(t, false, with)}
	w := b.get("/console/data?find=cab")
	has(t, w, 200, ">Cables</a>", "1 is found among 252", "0 are found among 2", "None has “cab”")
	lacks(t, w, "Shoes")
	has(t, b.get("/console/data?find=1"), 200, ">Cables</a>", ">USB</a>", "Čapek")
	has(t, b.get("/console/data?find=7"), 200, ">campaign 4<", ">campaign 7<") // by its id, and by its name
	has(t, b.get("/console/data/groups/1?find=C"), 200, ">usb c<", ">usb cable<", "USB &lt;cable&gt;")
	w = b.get("/console/data/groups/1?find=2")
	has(t, w, 200, ">usb c<")
	lacks(t, w, ">usb cable<")

	w = b.get("/console/data/advertisers/2")
	has(t, w, 200, ">campaign 0<", ">campaign 99<")
	lacks(t, w, ">campaign 100<")
	next := regexp.MustCompile(`<a href="([^"]*)">Further campaigns`).FindStringSubmatch(w.Body.String())
	if next == nil {
		t.Fatal("the list does not go on")
	}
	w = b.get(strings.ReplaceAll(next[1], "&amp;", "&"))
	has(t, w, 200, ">campaign 100<", ">campaign 199<", "Further campaigns")
	lacks(t, w, ">campaign 99<")
}

// etag returns the ETag in the first form of a page that is sent to a path.
func etag(t *testing.T, w *httptest.ResponseRecorder, path string) string {
	t.Helper()
	m := regexp.MustCompile(`action="` + regexp.QuoteMeta(path) + `"><input type="hidden" name="etag" value="&#34;([0-9a-f]+)&#34;"`).FindStringSubmatch(w.Body.String())
	if m == nil {
		t.Fatalf("there is no form for %s in\n%s", path, w.Body)
	}
	return `"` + m[1] + `"`
}

// TestDataIsChanged: a form changes what its page showed, once, on behalf of its sender. Readers
// have no forms.
func TestDataIsChanged(t *testing.T) {
	db, with := fill(t, shop, nil)
	p := newPort(t, true, with)
	b := &browser{t: t, port: p}
	signIn(t, b, operatorToken)
	const group, keyword = "/console/data/groups/1", "/console/data/keywords/1?group=1"
	old := etag(t, b.get(group), keyword)
	w := b.post(keyword, url.Values{"etag": {old}, "status": {"paused"}})
	if to := w.Header().Get("Location"); w.Code != 303 || to != group+"?done=served" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	has(t, b.get(group+"?done=served"), 200, "all live slaves serve it", "Resume keyword 1")
	if !strings.Contains(p.log.String(), `method=PATCH path=/v1/keywords/1 by="operator alice"`) {
		t.Errorf("the log has no line:\n%s", p.log.String())
	}
	w = b.post(keyword, url.Values{"etag": {old}, "amount": {"2"}})
	has(t, w, 412, "somebody else has changed it", "Resume keyword 1", "1.234567")
	has(t, b.post(keyword, url.Values{"etag": {etag(t, w, keyword)}, "amount": {"0.25"}}), 303)
	has(t, b.post("/console/data/campaigns/1", url.Values{"amount": {""}}), 303)
	has(t, b.post("/console/data/negatives/1?campaign=1", url.Values{"status": {"paused"}}), 303)
	has(t, b.post("/console/data/negatives/3?advertiser=1", url.Values{"status": {"paused"}}), 303)
	has(t, b.get("/console/data/advertisers/1"), 200, "never mind", "Resume negative 3", "/console/data/negatives/3?advertiser=1")
	for path, form := range map[string]url.Values{
		keyword: {"amount": {"-1"}}, group: {"amount": {"1.0000001"}}, "/console/data/ads/1?group=1": {"amount": {"1"}},
		"/console/data/campaigns/1": {"amount": {"1e3"}}, "/console/data/groups/2": {"status": {"gone"}}, "/console/data/advertisers/1": {},
		"/console/data/keywords/2": {"status": {"paused"}}, "/console/data/groups/1?x": {"amount": {"20000"}},
	} {
		if w := b.post(path, form); w.Code != 400 && w.Code != 404 {
			t.Errorf("%s %v: %d", path, form, w.Code)
		}
	}
	has(t, b.post("/console/data/nothing/1", url.Values{"status": {"paused"}}), 404)
	has(t, b.post("/console/data/advertisers/1", url.Values{"status": {"paused"}}), 303)
	has(t, b.get(group), 200, "Nothing here is shown: advertiser Čapek")
	items, campaigns := read(t, db)
	if k := items.Keywords[0]; k.Enabled || k.Bid != 250_000 || items.Group.Bid != 450_000 || campaigns.HasBudget || campaigns.Negatives[0].Enabled {
		t.Errorf("%+v %+v", items, campaigns)
	}

	reader := &browser{t: t, port: p}
	signIn(t, reader, readerToken)
	w = reader.get(group)
	has(t, w, 200, "usb cable")
	lacks(t, w, "Resume", "Pause", `name="etag"`)
	has(t, reader.post(keyword, url.Values{"status": {"enabled"}}), 403)
	if w := b.send("POST", keyword, url.Values{"status": {"enabled"}}, "Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"); w.Code != 403 {
		t.Errorf("from another site: %d", w.Code)
	}
}

// TestDataThatSlavesLack: a change is saved whether or not slaves serve it yet, and the page says
// which is the case.
func TestDataThatSlavesLack(t *testing.T) {
	_, with := fill(t, shop, errors.New("a slave is behind"))
	b := &browser{t: t, port: newPort(t, false, with)}
	w := b.post("/console/data/groups/1", url.Values{"amount": {"1.431112"}})
	if to := w.Header().Get("Location"); to != "/console/data/groups/1?done=saved" {
		t.Errorf("%d %s", w.Code, to)
	}
	has(t, b.get("/console/data/groups/1?done=saved"), 200, "slaves have yet to serve it", ">1.431112<small>")
}

// read returns group 1 and campaign 1.
func read(t *testing.T, db *nodetest.Database) (*backend.Item, *backend.Campaign) {
	t.Helper()
	s, err := db.DB.Snapshot(t.Context())
	db.Must(err)
	defer s.Close()
	items, err := s.Items(t.Context(), []uint64{1})
	db.Must(err)
	campaigns, err := s.Campaigns(t.Context(), []uint64{1})
	db.Must(err)
	return items[0], campaigns[0]
}
