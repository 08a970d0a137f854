package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/porttest"
	"adshard/internal/node/searchapi"
	"adshard/search"
	"adshard/search/display"
)

// searched answers queries with fixed hits.
type searched struct {
	asked  *search.Request
	answer search.Answer
	// named and explain are for --why-not.
	named   search.Wanted
	explain *search.Explanation
}

func (c *searched) Search(_ context.Context, r *search.Request) (*search.Answer, error) {
	c.asked = r
	a := c.answer
	return &a, nil
}

func (c *searched) Explain(_ context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	if r.Wanted.Any() {
		c.named = r.Wanted
		return c.explain, nil
	}
	x := &search.Explanation{Total: 2, Width: c.answer.Width}
	for _, h := range c.answer.Hits[:min(limit, len(c.answer.Hits))] {
		x.Matches = append(x.Matches, search.Explained{
			Hit: h, AdvertiserName: "Ac\x1b[31mme", CampaignName: "C", GroupName: "G", KeywordText: "usb kabel", Shard: "slave-0", Slice: 3, Bid: 2_000_000, Modifier: 1000, Effective: 2_000_000,
			Words: []search.Agreement{{Keyword: "usb", Query: "usb"}, {Keyword: "kabel", Query: "kábel", Level: search.Folded}},
		})
	}
	return x, nil
}

func hit(id uint64, text string) search.Hit {
	return search.Hit{
		Keyword: id, Advertiser: id, Score: (10 - id) * 1e12, Quality: 1_000_000, Type: search.Broad, Level: search.Folded,
		Ad: 1, Display: display.New("Ac\x1b[31mme", "C", "G", text, &display.Ad{Headlines: []string{strings.Repeat("Very long ", 9)}}),
	}
}

func started(t *testing.T, c *searched) string {
	t.Helper()
	s := httptest.NewServer(searchapi.New(searchapi.Config{Searcher: c, Explainer: c, Reserve: 10_000}))
	t.Cleanup(s.Close)
	return s.URL
}

func newCluster() *searched {
	return &searched{answer: search.Answer{
		Hits: []search.Hit{hit(1, "usb kabel"), hit(2, "kabel")}, Matched: 46, Candidates: 31, Shards: 3, Answered: 3,
		Width: search.WholeRing(),
	}}
}

func TestQueryTable(t *testing.T) {
	c := newCluster()
	status, out, errOut := run(t, "adshard", "query", "--addr", started(t, c), "--slots", "2", "--device", "mobile", "usb", "kábel")
	if status != exitDone || errOut != "" {
		t.Fatalf("%d %q %q", status, out, errOut)
	}
	if c.asked.Query.Text != "usb kábel" || c.asked.Slots != 2 || c.asked.Device != search.Mobile {
		t.Errorf("asked %+v", c.asked)
	}
	lines := strings.Split(out, "\n")
	if !strings.HasPrefix(lines[0], "#  AD") || !strings.Contains(lines[1], "broad/folded  8.00") ||
		!strings.Contains(lines[2], "0.01") || !strings.HasPrefix(lines[3], "at least 46 keywords match, at least 31 take part; 3 of 3 shards") {
		t.Errorf("%s", out)
	}
	if strings.ContainsRune(out, '\x1b') || !strings.Contains(out, "…") {
		t.Errorf("%q", out)
	}
}

// TestQueryContext: flags set the place, time, user and page of a query.
func TestQueryContext(t *testing.T) {
	c := newCluster()
	_, out, errOut := run(t, "adshard", "query", "--addr", started(t, c), "--location", "2203", "--location", "2276", "--interest-location", "2840", "--point", "50.087,14.421",
		"--time", "2026-12-24T20:00:00+01:00", "--language", "Czech", "--audience", "buyers", "--site", "news.example/sport", "--block-advertiser", "7",
		"--block-domain", "casino.example", "--block-category", "alcohol", "--block-uncategorised", "usb", "kabel")
	if c.asked == nil {
		t.Fatal(errOut)
	}
	x := c.asked.Context
	b := x.Blocks[0]
	got := fmt.Sprint(x.Places, *x.Point, x.Time.Unix(), x.Languages, x.Audiences, *x.Site, []any{b.Advertisers.List(), b.Domains.List(), b.Categories.List(), b.Uncategorised})
	want := "[{2203 true false 1} {2276 true false 1} {2840 false true 1}] {50087000 14421000} 1798138800 [cs] [buyers] news.example/sport " +
		"[[7] [casino.example] [alcohol] true]"
	if got != want {
		t.Errorf("%s, want\n%s\n%s%s", got, want, out, errOut)
	}
	status, _, errOut := run(t, "adshard", "query", "--addr", started(t, c), "--block", "nobody", "usb")
	if status == exitDone || !strings.Contains(errOut, `no block list "nobody"`) {
		t.Errorf("an unknown list: %d, %s", status, errOut)
	}
}

func TestQueryJSONIncompleteAndEmpty(t *testing.T) {
	c := newCluster()
	addr := started(t, c)
	status, out, _ := run(t, "adshard", "query", "--addr", addr, "--json", "usb")
	var a api.SearchAnswer
	if err := json.Unmarshal([]byte(out), &a); err != nil || status != exitDone || len(a.Ads) != 2 {
		t.Errorf("%d %v %s", status, err, out)
	}
	c.answer.Hits, c.answer.Width, c.answer.Missing, c.answer.Answered = nil, search.Width{}, []search.Missing{{Shard: "slave-1", Reason: search.Silent}}, 2
	_, out, _ = run(t, "adshard", "query", "--addr", addr, strings.Repeat("w ", 33))
	for _, want := range []string{"no ads", "2 of 3 shards", "Incomplete", "Missing: slave-1 (silent)", "first 32 words"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %s", want, out)
		}
	}
	status, _, errOut := run(t, "adshard", "query", "--addr", addr, "--strict", "usb")
	if status != exitFailed || !strings.Contains(errOut, "incomplete") {
		t.Errorf("strict: %d %q", status, errOut)
	}
}

func TestQueryExplain(t *testing.T) {
	c := newCluster()
	addr := started(t, c)
	status, out, errOut := run(t, "adshard", "query", "--addr", addr, "--explain", "--slots", "1", "--limit", "1", "usb", "kábel")
	if status != exitDone {
		t.Fatalf("%d %q", status, errOut)
	}
	for _, want := range []string{"won place 1 at 8.00, set by keyword 2", "kabel~kábel (folded)", "slave-0, slice 3", "1 more; --offset 1", "kábel  kabel   cs kabl; en kabel"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	_, out, _ = run(t, "adshard", "query", "--addr", addr, "--explain", "--slots", "1", "usb")
	if !strings.Contains(out, "keyword 1 has the last") {
		t.Error(out)
	}
}

func TestQueryWhyNot(t *testing.T) {
	c := newCluster()
	addr := started(t, c)
	c.explain = &search.Explanation{Total: 1, Width: search.WholeRing(), Matches: []search.Explained{{
		Hit: search.Hit{Keyword: 17, Advertiser: 3, Type: search.Phrase, Level: search.NoLevel}, AdvertiserName: "Shoes", KeywordText: "red kabel",
		Verdict: search.Unmatched, Mismatch: search.WordsMissing, MismatchWords: []string{"red"},
		Words: []search.Agreement{{Keyword: "red", Level: search.NoLevel}, {Keyword: "kabel", Query: "kábel", Level: search.Folded}},
	}}}
	c.explain.Matches[0].Device, c.explain.Matches[0].Clamped = &search.DeviceFactor{Permille: 1500}, true
	for given, want := range map[string]search.Wanted{"17": {Keyword: 17}, "advertiser:3": {Advertiser: 3}, "Shoes": {AdvertiserName: "Shoes"}} {
		status, out, errOut := run(t, "adshard", "query", "--addr", addr, "--why-not", given, "usb", "kábel")
		if status != exitDone || c.named != want {
			t.Fatalf("%d %q, asked for %+v", status, errOut, c.named)
		}
		for _, text := range []string{"keywords of this name or number: 1; ", "phrase/-", `no word of the query agrees with "red"`, "red (missing), kabel~kábel (folded); bid × 1500 ‰ (device), at most × 10000 ‰; "} {
			if !strings.Contains(out, text) {
				t.Errorf("%q is not in\n%s", text, out)
			}
		}
	}
	c.explain = &search.Explanation{Width: search.WholeRing()}
	if _, out, _ := run(t, "adshard", "query", "--addr", addr, "--why-not", "18", "usb"); !strings.Contains(out, "There is no such keyword") {
		t.Error(out)
	}
	for _, wrong := range []string{"", "0"} {
		if status, _, errOut := run(t, "adshard", "query", "--addr", addr, "--why-not", wrong, "usb"); status != exitUsage {
			t.Errorf("%q: %d %s", wrong, status, errOut)
		}
	}
}

func TestQueryExplainSaysWhereToAsk(t *testing.T) {
	s := httptest.NewServer(searchapi.New(searchapi.Config{Searcher: newCluster(), Reserve: 10_000}))
	t.Cleanup(s.Close)
	status, out, errOut := run(t, "adshard", "query", "--addr", s.URL, "--explain", "usb")
	if status != exitUsage || out != "" || !strings.Contains(errOut, "--addr http://127.0.0.1:8081") || !strings.Contains(errOut, "explain: public") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
}

func TestQueryRefusedOrUnreachable(t *testing.T) {
	addr := started(t, newCluster())
	nobody := porttest.Address(t)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer page.Close()
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"query", "--addr", addr, "--slots", "21", "a"}, exitUsage, "slots must be a whole number from 1 to 20"},
		{[]string{"query", "--addr", addr, "--device", "phone", "a"}, exitUsage, "desktop or mobile or tablet"},
		{[]string{"query", "--addr", addr, "--limit", "5", "a"}, exitUsage, "limit"},
		{[]string{"query", "--addr", addr, strings.Repeat("a", 1025)}, exitUsage, "1025 bytes"},
		{[]string{"query", "--addr", nobody, "a"}, exitFailed, "is the program running"},
		{[]string{"slaves", "list", "--addr", nobody}, exitFailed, "is the program running"},
		{[]string{"query", "--addr", other.URL, "a"}, exitFailed, "is it the address of a master for queries, by default port 8080?"},
		{[]string{"query", "--addr", page.URL, "a"}, exitFailed, "is not one of adshard"},
		{[]string{"slaves", "list", "--addr", addr}, exitFailed, "not_found"},
	} {
		status, out, errOut := run(t, "adshard", c.args...)
		if status != c.status || !strings.Contains(errOut, c.says) || out != "" {
			t.Errorf("%.60v: %d %q %q; want %d, %q", c.args, status, out, errOut, c.status, c.says)
		}
	}
}

func TestSlavesList(t *testing.T) {
	list := api.SlaveList{Epoch: 2, View: 7, Clock: 100, Slaves: []api.Slave{
		{Name: "slave-0", Address: "127.0.0.1:7100", Alive: true, Serving: true, Slices: 2, SharePermille: 333, Groups: 5, Keywords: 50, Bytes: 3 << 20, AppliedClock: 100},
		{Name: "slave-1", Address: "127.0.0.1:7101", Alive: true, AppliedClock: 90, Trouble: "the disk is full"},
		{Name: "slave-2", Address: "127.0.0.1:7102", AppliedClock: 101},
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/slaves" {
			_ = json.NewEncoder(w).Encode(list)
		}
	}))
	defer s.Close()
	status, out, errOut := run(t, "adshard", "slaves", "list", "--addr", s.URL)
	if status != exitDone {
		t.Fatalf("%d %q", status, errOut)
	}
	for _, want := range []string{"serving  2       33.3 %", "3.0 MiB", "filling", "the disk is full", "away", "view 7, clock 100"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	_, out, _ = run(t, "adshard", "slaves", "list", "--addr", s.URL, "--json")
	var again api.SlaveList
	if err := json.Unmarshal([]byte(out), &again); err != nil || len(again.Slaves) != 3 {
		t.Errorf("%v %s", err, out)
	}
}

// TestQueryFindsTheMaster: `query` needs only the address of an admin port. It asks the first of the balancer's
// masters that may be reached from here, and sends its token nowhere else.
func TestQueryFindsTheMaster(t *testing.T) {
	asked := ""
	queries := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		if r.Header.Get("Authorization") != "" {
			t.Error("a port that was found gets the token")
		}
		_ = json.NewEncoder(w).Encode(api.SearchAnswer{Ads: []api.Ad{}})
	}))
	defer queries.Close()
	control := admintest.NewControl()
	addr := serveControl(t, control)
	token := file(t, "token", "secret-of-alice")
	if err := os.Chmod(token, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		urls   []string
		status int
		says   string
	}{
		{[]string{"", "::", queries.URL}, exitDone, "no ads"},
		{[]string{""}, exitFailed, "knows no master"},
		{nil, exitFailed, "knows no master"},
		{[]string{"http://127.0.0.1:1"}, exitFailed, "the address that the master tells its balancer"},
	} {
		control.Status.Masters = nil
		for _, u := range step.urls {
			control.Status.Masters = append(control.Status.Masters, api.MasterInfo{Name: "master-0", URL: u})
		}
		asked = ""
		status, out, errOut := run(t, "adshard", "query", "--addr", addr, "--token-file", token, "usb", "cable")
		if status != step.status || !strings.Contains(out+errOut, step.says) || (asked == "/v1/search") != (status == exitDone) {
			t.Errorf("%v: %d %q %q, asked %q", step.urls, status, out, errOut, asked)
		}
	}
}
