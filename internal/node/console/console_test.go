package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// pages are the pages of a balancer with a master.
var pages = []string{"/console/overview", "/console/balancing", "/console/slices", "/console/slices?slave=slave-0", "/console/slices/5", "/console/slices/4",
	"/console/slices/3", "/console/slices/7", "/console/slices/8", "/console/query", "/console/query?q=usb", "/console/query?q=usb&keyword=7&placement_id=top&placement_id=side&placement_slots=x"}

// TestPagesAreSafe: no page contains an inline script or style, and every answer has the policy that
// forbids them.
func TestPagesAreSafe(t *testing.T) {
	_, with := fill(t, shop, nil)
	b := &browser{t: t, port: newPort(t, false, with)}
	for _, path := range append([]string{"/console/data", "/console/data/groups/1", "/console/data/campaigns/1", "/console/import", "/console/blocklists", "/console/blocklists/a", "/console/", "/console/none", "/console/static/console.js", "/console/static/none"}, pages...) {
		w := b.get(path)
		if w.Code == http.StatusSeeOther {
			continue
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self';") || strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		text := w.Body.String()
		for _, bad := range []string{"<style", " style=", "<script>", " onclick=", "javascript:", "http://", "ZgotmplZ"} {
			if strings.Contains(text, bad) && !strings.Contains(path, "static") {
				t.Errorf("%s has %q", path, bad)
			}
		}
		if strings.Contains(w.Header().Get("Content-Type"), "html") && w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be kept: %q", path, w.Header().Get("Cache-Control"))
		}
	}
	has(t, b.get("/console/none"), http.StatusNotFound, "There is no such page")
	if to := b.get("/console/").Header().Get("Location"); to != "/console/overview" {
		t.Errorf("the first page is %q", to)
	}
}

func TestOverview(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	has(t, b.get("/console/overview"), 200, "Answers are incomplete", "slave-2 has no replica that answers in full", "the disk is full",
		"1.80 × mean", "10 changes behind", "slice 3</a> has left slave-0", "copies slave-1: 3.0 MiB of 9.0 MiB", `<td data-l="Last seen">now`,
		"the ad group Acme &lt;&amp;&gt; › Cables › USB alone has 1.20 × the mean", "slave-0 has to discard slice 7", "slave-2 has not taken all of it yet")

	for i := range p.control.Slaves.Slaves {
		s := &p.control.Slaves.Slaves[i]
		s.Alive, s.Serving, s.Trouble, s.State = true, true, "", api.SlaveStateActive
	}
	p.control.Status.Scrub.Condemned = nil
	w := b.get("/console/overview")
	has(t, w, 200, `class="health good"`, "Answers are complete")
	lacks(t, w, "Answers are incomplete", "needs attention")

	p.control.Slaves.Slaves[0].Trouble = "the store <grows>"
	has(t, b.get("/console/overview"), 200, `class="health warn"`, "something needs attention", "the store &lt;grows&gt;")
	p.control.Slaves.Slaves[0].Trouble = ""
	p.control.Status.Paused = true
	has(t, b.get("/console/overview"), 200, `class="health warn"`, "balancing is paused")
}

// TestTraffic: the overview shows the traffic that masters report, or says that none has reported
// any.
func TestTraffic(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	has(t, b.get("/console/overview"), 200, "<dd>813<small>over 60 s", `<div class=""><dt>Median time</dt><dd>0.91 ms`, `<div class=""><dt>99th percentile</dt><dd>4.34 ms<small>deadline 500 ms`,
		`class="warn"><dt>Refused</dt><dd>0.2 %`, "<div><dt>Incomplete</dt><dd>0.0 %", `master-0</th><td data-l="Queries a second" class="n">813`)
	p.control.Status.Masters[0].Name = "master-0/QIW43S5D2XGBGG7FEYCFJ2AY3T"
	lacks(t, b.get("/console/overview"), "QIW43")
	for p99, level := range map[int64]string{249_000: "", 250_000: "warn", 449_000: "warn", 450_000: "bad", 9_000_000: "bad"} {
		p.control.Status.Traffic.P99Micros = p99
		has(t, b.get("/console/overview"), 200, `<div class="`+level+`"><dt>99th percentile`)
	}
	p.control.Status.Masters[0].TimeoutMs, p.control.Status.Traffic.P99Micros = 0, 9_000_000
	has(t, b.get("/console/overview"), 200, `<div class=""><dt>99th percentile</dt><dd>9,000 ms<small>of answers`)
	p.control.Status.Traffic.Incomplete, p.control.Status.Traffic.P50Micros, p.control.Status.Traffic.P99Micros = 0.25, 0, 0
	has(t, b.get("/console/overview"), 200, `class="bad"><dt>Incomplete</dt><dd>25.0 %`, "<dt>99th percentile</dt><dd>–<small>")
	p.control.Status.Masters[0].Traffic.P50Micros = 0
	has(t, b.get("/console/overview"), 200, `<td data-l="Median" class="n">–`)
	p.control.Status.Traffic, p.control.Status.Masters[0].Traffic = nil, nil
	w := b.get("/console/overview")
	has(t, w, 200, "No master has reported yet what it answers")
	lacks(t, w, "<dt>Queries a second", "813")
}

// TestLatestEvents: eight events are shown, and the others are folded.
func TestLatestEvents(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	p.control.Status.Events = nil
	for i := range 12 {
		p.control.Status.Events = append(p.control.Status.Events, api.Event{AgeMs: int64(i) * 1000, Text: fmt.Sprintf("event %d.", i)})
	}
	page := b.get("/console/overview").Body.String()
	shown, folded, _ := strings.Cut(page, "<summary>4 earlier events</summary>")
	if !strings.Contains(shown, "event 7.") || strings.Contains(shown, "event 8.") || !strings.Contains(folded, "event 8.") || !strings.Contains(folded, "event 11.") {
		t.Errorf("%s", page)
	}
	p.control.Status.Events = p.control.Status.Events[:8]
	lacks(t, b.get("/console/overview"), "earlier event")
}

// TestCharts: the overview draws the last 24 hours, and the page on balancing what other strategies would have reached.
func TestCharts(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	w := b.get("/console/overview")
	has(t, w, 200, "Queries a second over the last 24 hours: queries ", "p99 ", "refused ", "best possible 1.20, at most 1.20")
	if n := strings.Count(w.Body.String(), "<figure"); n != 4 {
		t.Errorf("%d charts", n)
	}
	lacks(t, w, "random 1.")
	has(t, b.get("/console/balancing"), 200, "<figure", "original 1.90, at most 1.90", `<rect class="gap" x="60" width="12"`)
	p.control.History = &api.BalanceHistory{IntervalMs: 300_000, Points: []api.HistoryPoint{}}
	for _, page := range []string{"/console/overview", "/console/balancing"} {
		w := b.get(page)
		has(t, w, 200, "There is nothing to draw yet")
		lacks(t, w, "<figure")
	}
}

// TestNoHexadecimalIDs: pages call ad groups by their names, and slices by their numbers.
func TestNoHexadecimalIDs(t *testing.T) {
	b := &browser{t: t, port: newPort(t, false)}
	key := regexp.MustCompile(`\b[0-9a-f]{16}\b`)
	for _, path := range []string{"/console/overview", "/console/balancing", "/console/slices"} {
		if found := key.FindAllString(b.get(path).Body.String(), -1); found != nil {
			t.Errorf("%s shows %q", path, found)
		}
	}
}

// TestReplicasMakeAShardWhole: a shard answers as long as one of its replicas does. The page says
// since when the other replica has been away.
func TestReplicasMakeAShardWhole(t *testing.T) {
	p := newPort(t, false)
	seen := int64(130_000)
	p.control.Status.Replicas = 2
	p.control.Status.Scrub.Condemned = nil
	p.control.Status.Slaves = []api.SlaveLoad{{Name: "shard-0", State: api.SlaveStateActive, Alive: true, OverMean: 1, Slices: 1, Replicas: []string{"a", "b"}}}
	p.control.Slaves.Slaves = []api.Slave{
		{Name: "a", Shard: "shard-0", State: api.SlaveStateActive, SeenMs: &seen},
		{Name: "b", Shard: "shard-0", State: api.SlaveStateActive, Alive: true, Serving: true, AppliedClock: 9000},
		{Name: "c", State: api.SlaveStateActive, Alive: true, Serving: true, AppliedClock: 9000},
	}
	b := &browser{t: t, port: p}
	has(t, b.get("/console/overview"), 200, `class="health warn"`, "a is away, last seen 2 min ago", "<h3>Spares</h3>")
	p.control.Slaves.Slaves[1].Serving = false
	has(t, b.get("/console/overview"), 200, `class="health bad"`, "shard-0 has no replica that answers in full", "being filled")
}

func TestEmptyStates(t *testing.T) {
	p := newPort(t, false)
	p.control.Status = &api.BalanceStatus{Waiting: "2 of 3 slaves have registered", MaxOverMean: 1, LowerBound: 1}
	p.control.Slaves, p.control.Slices = &api.SlaveList{}, &api.SliceList{}
	p.control.Strategies, p.control.History = &api.StrategyList{}, &api.BalanceHistory{IntervalMs: 300_000}
	b := &browser{t: t, port: p}
	has(t, b.get("/console/overview"), 200, "There is no plan yet: 2 of 3 slaves have registered", "There is no shard yet", "No slice is being moved",
		"Nothing has happened", "No master follows")
	has(t, b.get("/console/balancing"), 200, "There is no slave", "There is nothing to draw yet")
	has(t, b.get("/console/slices"), 200, "There is no slice yet")
	has(t, b.get("/console/query"), 200, "Ask a query")
	p.found.hits, p.found.matches = nil, nil
	has(t, b.get("/console/query?q=nothing"), 200, "No ad:", "No keyword matches")
}

// TestErrorsAreShown: when a call is refused, the page shows the error and has the call's status.
func TestErrorsAreShown(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	has(t, b.get("/console/slices/6"), 404, "there is no slice 6; the nearest are 3 and 4")
	has(t, b.get("/console/slices/x"), 400, "is not the number of a slice")
	has(t, b.get("/console/query?q="+strings.Repeat("x", 1025)), 400, `role="alert"`, "the most is 1024")
	has(t, b.get("/console/query?q=usb&slots=99"), 400, `role="alert"`, "slots")
	p.found.err = fault.Newf(fault.Unavailable, "x", "no map of shards yet")
	has(t, b.get("/console/query?q=usb"), 503, "no map of shards yet")
	p.control.Err = fault.Newf(fault.Unavailable, "x", "another balancer leads: http://10.0.0.6:7001")
	for _, path := range []string{"/console/overview", "/console/balancing", "/console/slices", "/console/slices/5"} {
		has(t, b.get(path), 503, "another balancer leads: http://10.0.0.6:7001", `data-refresh="5"`)
	}
	p.control.Err = errors.New("a secret cause")
	w := b.get("/console/overview")
	has(t, w, 500, `role="alert"`)
	lacks(t, w, "Answers are")
}

// TestForms: each form of an operator makes the call it stands for, exactly once, and the following
// page confirms it.
func TestForms(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	for _, f := range []struct {
		action string
		form   url.Values
		to     string
		told   string
	}{
		{"pause", url.Values{}, "balancing?done=pause", "pause true"},
		{"resume", url.Values{}, "balancing?done=resume", "pause false"},
		{"drain", url.Values{"slave": {"slave-1"}}, "balancing?done=drain", "drain slave-1"},
		{"remove", url.Values{"slave": {"slave-2"}}, "balancing?done=remove", "remove slave-2"},
		{"add", url.Values{"address": {" 10.0.0.9:7100 "}}, "balancing?done=add", "add 10.0.0.9:7100"},
		{"strategy", url.Values{"strategy": {"weighted-move"}, "option.move-share": {"0.05"}, "option.merge-share": {" "}}, "balancing?done=strategy",
			"strategy weighted-move map[move-share:0.05]"},
		{"replicas", url.Values{"replicas": {"2"}}, "balancing?done=replicas", "replicas 2"},
		{"move", url.Values{"slice": {"4"}, "slave": {"slave-2"}}, "slices/4?done=move", "move 4 slave-2"},
	} {
		before := len(p.control.Calls())
		w := b.post("/console/do/"+f.action, f.form)
		if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != "/console/"+f.to {
			t.Errorf("%s: %d, to %q\n%s", f.action, w.Code, to, w.Body)
			continue
		}
		if got := p.control.Calls()[before:]; !reflect.DeepEqual(got, []string{f.told}) {
			t.Errorf("%s told %q, want %q", f.action, got, f.told)
		}
		has(t, b.get(w.Header().Get("Location")), 200, `role="status"`)
	}
	if log := p.log.String(); strings.Count(log, "changed through the admin port") != 8 {
		t.Errorf("the log has not a line for each change:\n%s", log)
	}
	has(t, b.post("/console/do/drain", url.Values{"slave": {"../x?y"}}), 404, "there is no slave &#34;../x?y&#34;")
	has(t, b.post("/console/do/drain", nil), 400, "names no slave")
	has(t, b.post("/console/do/dance", nil), 404, "no such form")
	has(t, b.post("/console/do/replicas", url.Values{"replicas": {"x"}}), 400, "not a number")
	has(t, b.post("/console/do/move", url.Values{"slice": {"4"}, "slave": {""}}), 400, `role="alert"`, "Why it is on")
}

// TestReadersSeeNoButtons: readers see no buttons, and forms that they send are refused.
func TestReadersSeeNoButtons(t *testing.T) {
	p := newPort(t, true)
	b := &browser{t: t, port: p}
	signIn(t, b, readerToken)
	for _, path := range pages {
		w := b.get(path)
		has(t, w, 200, "reader bob")
		lacks(t, w, "/console/do/", "class=\"danger\"")
	}
	has(t, b.post("/console/do/pause", nil), 403, "not for the reader bob")
	if told := p.control.Calls(); len(told) > 0 {
		t.Errorf("told %q", told)
	}
	operator := &browser{t: t, port: p}
	signIn(t, operator, operatorToken)
	has(t, operator.get("/console/balancing"), 200, "/console/do/pause", "/console/do/drain", "/console/do/add", "/console/do/strategy",
		"2 strategies for comparison only, or not for this cluster", "This cluster cannot use it: it needs the order advertiser", `value="rao-one"`)
	has(t, operator.get("/console/slices/4"), 200, "/console/do/move")
	operator.post("/console/do/pause", nil)
	if log := p.log.String(); !strings.Contains(log, `by="operator alice"`) || strings.Contains(log, operatorToken) {
		t.Errorf("log: %s", log)
	}
}

func signIn(t *testing.T, b *browser, token string) {
	t.Helper()
	has(t, b.get("/console/overview"), 401, `type="password"`, `value="/console/overview"`)
	w := b.post("/console/login", url.Values{"token": {token}, "back": {"/console/overview"}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/overview" || b.cookie == nil {
		t.Fatalf("signing in: %d, to %q\n%s", w.Code, w.Header().Get("Location"), w.Body)
	}
}

func TestSignIn(t *testing.T) {
	p := newPort(t, true)
	b := &browser{t: t, port: p}
	has(t, b.post("/console/login", url.Values{"token": {"wrong-wrong-wrong-wrong"}, "back": {"/console/slices"}}), 401,
		"not a token of this port", `value="/console/slices"`)
	if b.cookie != nil {
		t.Fatal("a wrong token makes a cookie")
	}
	signIn(t, b, operatorToken)
	c := b.cookie
	if c.Name != "adshard_7001" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/console/" || strings.Contains(c.Value, operatorToken) {
		t.Errorf("cookie %+v", c)
	}
	has(t, b.get("/console/overview"), 200, "operator alice", "Sign out")

	// The cookie is for pages only: no API call accepts it.
	for _, call := range []string{"/v1/balance", "/metrics"} {
		w := b.send("GET", call, nil, "Cookie", c.Name+"="+c.Value)
		if w.Code != http.StatusUnauthorized {
			t.Errorf("%s with a cookie: %d", call, w.Code)
		}
	}
	// Signing in does not redirect to another site.
	for _, to := range []string{"https://evil.example/", "//evil.example", "/v1/balance", "/console/\\evil"} {
		w := (&browser{t: t, port: p}).post("/console/login", url.Values{"token": {operatorToken}, "back": {to}})
		if got := w.Header().Get("Location"); got != "/console/" {
			t.Errorf("back to %q leads to %q", to, got)
		}
	}
	stolen := *c
	if w := b.post("/console/logout", nil); w.Code != http.StatusSeeOther || b.cookie != nil {
		t.Errorf("signing out: %d, cookie %v", w.Code, b.cookie)
	}
	b.cookie = &stolen
	has(t, b.get("/console/overview"), 401)

	w := (&browser{t: t, port: p}).send("POST", "/console/login", url.Values{"token": {operatorToken}}, "Origin", "https://localhost:7001")
	if list := w.Result().Cookies(); len(list) != 1 || !list[0].Secure {
		t.Errorf("over TLS: %v", list)
	}
}

// TestFormsOfOthers: a form that was not sent by a page of the port changes nothing, whatever
// credentials it has.
func TestFormsOfOthers(t *testing.T) {
	for name, header := range map[string][]string{
		"another site": {"Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"}, "a neighbour": {"Sec-Fetch-Site", "same-site"},
		"old browser": {"Origin", "http://evil.example"}, "no browser": {}, "a hidden origin": {"Origin", "null"}, "typed": {"Sec-Fetch-Site", "none"},
	} {
		for _, tokens := range []bool{false, true} {
			p := newPort(t, tokens)
			b := &browser{t: t, port: p}
			if tokens {
				signIn(t, b, operatorToken)
			}
			for path, form := range map[string]url.Values{"/console/do/pause": {}, "/console/logout": {}, "/console/login": {"token": {operatorToken}}} {
				if w := b.send("POST", path, form, header...); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
					t.Errorf("%s: %s: %d", name, path, w.Code)
				}
			}
			if told := p.control.Calls(); len(told) > 0 {
				t.Errorf("%s: told %q", name, told)
			}
		}
	}
	b := &browser{t: t, port: newPort(t, false)}
	if w := b.get("/console/do/pause"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("by GET: %d", w.Code)
	}
}

func TestSlices(t *testing.T) {
	b := &browser{t: t, port: newPort(t, false)}
	has(t, b.get("/console/slices"), 200, `href="/console/slices/5"`, "slave-0 → slave-2", "40.0 %", "Acme &lt;&amp;&gt; › Cables › USB, 100.0 %", `class="heat`, "2 slices by key", "2 of 9")
	has(t, b.get("/console/slices/4"), 200, "nothing better was found for it", "it is draining", "Move slice 4 to slave-2", "0.64", "<code>7fffffffffffffff</code>", "Acme &lt;&amp;&gt; › Lamps › Desk", "ad group 32")
	has(t, b.get("/console/slices/5"), 200, "Acme &lt;&amp;&gt; › Cables › USB")
	lacks(t, b.get("/console/slices/4"), "to slave-1</button>")
	has(t, b.get("/console/slices/7"), 200, "It moves from slave-0 to slave-2: copying", "slave-2 has not taken all of it yet")
}

func TestBalancing(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	has(t, b.get("/console/balancing"), 200, "Slicer&#39;s Weighted-Move", "max/mean 1.80 → 1.25", "it takes most from slave-0 for what it weighs",
		"hotter than any slave has room for", "Pause balancing", `<th scope="row" class="id">random</th>`, "move-share=0.09", "3 left", `value="0.05"`, `placeholder="0.09"`)
	p.control.Status.Paused = true
	p.control.Plan.Operations = nil
	has(t, b.get("/console/balancing"), 200, "Resume balancing", "paused", "Nothing: max/mean stays 1.80")
	lacks(t, b.get("/console/balancing"), `<th scope="col">Shard</th>`)
	p.control.Slaves.Slaves[0].Shard = "shard-1"
	has(t, b.get("/console/balancing"), 200, `<td data-l="Shard" class="id">shard-1`, `<td data-l="Shard" class="id">spare`)
}

// TestTheLastDay: without a history the page of slices says so; with one it draws it.
func TestTheLastDay(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	has(t, b.get("/console/slices"), 200, "There is no history yet")
	p.live(time.Now())
	w := b.get("/console/slices")
	has(t, w, 200, `src="/console/heat.png"`, `src="/console/heat.png?by=shard"`)
	lacks(t, w, "There is no history yet")
	heat, shards := b.get("/console/heat.png"), b.get("/console/heat.png?by=shard")
	if heat.Header().Get("Content-Type") != "image/png" || !strings.HasPrefix(heat.Body.String(), "\x89PNG") || heat.Body.String() == shards.Body.String() {
		t.Errorf("the picture is %q", heat.Header())
	}
}

func TestQuery(t *testing.T) {
	p := newPort(t, false)
	b := &browser{t: t, port: p}
	w := b.get("/console/query?q=usb+%3Ckabel%3E&device=mobile&slots=2")
	has(t, w, 200, `value="usb &lt;kabel&gt;"`, `<option value="mobile" selected>`, "USB &lt;cable&gt; – Cheap", "https://example.com/?a=1", "Čapek &amp; Söhne",
		"blocked_by_negative", "below_reserve", "won 1", "won 2", "3 of 3 shards answered", "are not blocked by a negative",
		"ask the shards", "hold the auction", `slave-0</th><td data-l="Shard" class="id">shard-0</td><td data-l="Time" class="n">0.812 ms</td>`)
	lacks(t, w, "deadline")
	p.found.single = true
	w = b.get("/console/query?q=usb")
	has(t, w, 200, `slave-0</th><td data-l="Time" class="n">0.812 ms</td>`)
	lacks(t, w, `<th scope="col">Stage</th><th scope="col">Shard</th>`)
	p.found.single = false
	has(t, b.get("/console/query?q=usb&keyword=7"), 200, "Why not 7", "free")
	has(t, b.get("/console/query?q=usb&keyword=8"), 200, "Why not 8", "There is no such keyword")
	has(t, b.get("/console/query?q=usb&keyword=Shoes+%3C"), 200, "Why not Shoes &lt;", "unmatched", "no word of the query agrees with &#34;boty&#34;")
	has(t, b.get("/console/query?q=usb&keyword=0"), 400, `role="alert"`, "name a keyword by its id")
	p.found.missing = []search.Missing{{Shard: "slave-2", Reason: search.Late}}
	w = b.get("/console/query?q=usb&keyword=8")
	has(t, w, 200, "The answer is incomplete: slave-2 (late)", "which are not all",
		`slave-2 <span class="word bad">deadline</span></th><td data-l="Shard" class="id">shard-2</td>`)
	lacks(t, w, "There is no such keyword")
}

// TestPortsWithoutABalancer: a master's port has only the query page, and a slave's port has no
// pages.
func TestPortsWithoutABalancer(t *testing.T) {
	master := &browser{t: t, port: portOf(false, true)}
	if to := master.get("/console/").Header().Get("Location"); to != "/console/query" {
		t.Errorf("a master's first page is %q", to)
	}
	w := master.get("/console/query")
	has(t, w, 200)
	lacks(t, w, "/console/overview")
	has(t, master.get("/console/overview"), 404)
	if w := (&browser{t: t, port: portOf(false, false)}).get("/console/"); w.Code != 404 {
		t.Errorf("a slave's: %d", w.Code)
	}
}
