package console_test

import (
	"context"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/admin"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
	"adshard/targeting"
)

var pictures = flag.String("pictures", "", "a directory for pictures of the pages")

// patience is how long a test in a browser may take on a busy machine. A page may take a twelfth of it.
const patience = 4 * time.Minute

// screen is a browser window together with the errors that the browser has reported.
type screen struct {
	t   *testing.T
	ctx context.Context
	url string

	mu     sync.Mutex
	faults []string
}

// open starts Debian's Chromium on the pages of a port.
func open(t *testing.T, p *port) *screen {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium: ", err)
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	s := &screen{t: t, ctx: ctx, url: server.URL}
	if err := chromedp.Listen(ctx, s.note); err != nil {
		t.Fatal("chromium does not start: ", err)
	}
	return s
}

// note collects the errors that the browser reports: script errors, and violations of the pages' security
// policy. A page that answers 401 or 409 is not an error.
func (s *screen) note(event any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		s.faults = append(s.faults, e.ExceptionDetails.Text)
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError && e.Entry.Source != cdplog.EntrySourceNetwork {
			s.faults = append(s.faults, e.Entry.Text)
		}
	}
}

// do performs actions, and fails the test if it cannot or if the browser has reported errors.
func (s *screen) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	if err := chromedp.Do(s.ctx, actions...); err != nil {
		s.t.Fatalf("%s: %v\n%s", what, err, s.text())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		s.t.Errorf("%s: %s", what, f)
	}
	s.faults = nil
}

// says waits until the page contains a text.
func (s *screen) says(text string) {
	s.t.Helper()
	for end := time.Now().Add(patience / 12); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if strings.Contains(s.text(), text) {
			s.do(text) // checks that there were no errors so far
			return
		}
	}
	s.t.Fatalf("the page does not say %q:\n%s", text, s.text())
}

// text returns the text of the page, or "" while another page is being loaded.
func (s *screen) text() string {
	text, _ := chromedp.Run(s.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	return text
}

// find evaluates an expression on the page.
func find[T any](s *screen, expression string, options ...chromedp.EvaluateOption) T {
	s.t.Helper()
	v, err := chromedp.Run(s.ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		s.t.Fatalf("%.100s: %v", expression, err)
	}
	return v
}

// scheme sets whether the browser prefers light or dark pages.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	})
}

// offTheLine counts the buttons in rows of tables whose middle is not that of the row's first line.
const offTheLine = `[...document.querySelectorAll("tbody td button, tbody td summary")].filter(b => {
	const name = document.createRange(), at = b.getBoundingClientRect()
	const texts = document.createTreeWalker(b.closest("tr").cells[0], NodeFilter.SHOW_TEXT)
	while (texts.nextNode() && !texts.currentNode.data.trim());
	name.selectNodeContents(texts.currentNode)
	const line = name.getClientRects()[0]
	return b.checkVisibility() && !b.closest("details[open] form") && line && Math.abs(line.top + line.bottom - at.top - at.bottom) > 8
}).length`

// look checks the current page: it is no wider than the window on a desktop and on a phone, in light and
// dark mode, can be used with a finger, and has no accessibility problems. With -pictures it takes screenshots.
func (s *screen) look(name string) {
	s.t.Helper()
	for _, v := range []struct {
		suffix, scheme string
		width          int64
	}{{"", "light", 1400}, {"-narrow", "light", 390}, {"-dark", "dark", 1400}} {
		s.do(name+v.suffix, chromedp.EmulateViewport(v.width, 900), scheme(v.scheme))
		if over := find[int](s, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			s.t.Errorf("%s is %d px wider than a window of %d px", name, over, v.width)
		}
		if v.suffix != "" { // the contents are the same as in a wide light window
			s.accessible(name + v.suffix)
		}
		if v.width < 400 {
			s.touchable(name + v.suffix)
		} else if off := find[int](s, offTheLine); off > 0 {
			s.t.Errorf("%s: %d buttons are not on the line of their row's name", name+v.suffix, off)
		}
		if *pictures != "" {
			png, err := chromedp.Run(s.ctx, chromedp.FullScreenshot(100))
			if err == nil {
				err = os.WriteFile(filepath.Join(*pictures, name+v.suffix+".png"), png, 0o644)
			}
			if err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// accessible checks the page with axe-core.
func (s *screen) accessible(name string) {
	s.t.Helper()
	axe, err := os.ReadFile("testdata/axe.min.js")
	if err != nil {
		s.t.Fatal(err)
	}
	s.do("axe", chromedp.Evaluate[chromedp.Void](string(axe)+"\n;0"))
	for _, f := range find[[]string](s, `axe.run().then(r => r.violations
		.map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join("; ")))`, chromedp.EvalAwaitPromise) {
		s.t.Errorf("%s: %s", name, f)
	}
}

// touchable checks that a finger can reach everything on a phone: nothing is beside the window or below 24 pixels high, except for
// links within sentences.
func (s *screen) touchable(name string) {
	s.t.Helper()
	for _, f := range find[[]string](s, `[...document.querySelectorAll("a, button, summary, input, select, textarea")]
		.filter(e => !e.matches(".skip, svg a, p a, [type=hidden]") && e.checkVisibility())
		.map(e => [e, e.getBoundingClientRect()])
		.filter(([e, r]) => r.height < 24 || r.width < 24 && !e.matches("a") || r.left < 0 || r.right > innerWidth)
		.map(([e, r]) => e.outerHTML.slice(0, 200) + " is at " + [r.left, r.right] + ", " + r.height + " px high")`) {
		s.t.Errorf("%s: %s", name, f)
	}
}

// press clicks the element that matches a CSS selector.
func (s *screen) press(selector string) {
	s.t.Helper()
	s.do("press "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// TestInABrowser follows the main path through each page as an operator.
func TestInABrowser(t *testing.T) {
	t.Parallel() // most of the time is spent on waiting for pages
	p := newPort(t, true)
	p.live(time.Now())
	p.busy()
	well := *p.control.Slaves
	well.Slaves = nil
	for _, s := range p.control.Slaves.Slaves {
		s.Alive, s.Serving, s.Trouble, s.State = true, true, "", api.SlaveStateActive
		well.Slaves = append(well.Slaves, s)
	}
	p.control.Lists = []*api.SlaveList{p.control.Slaves, &well}
	s := open(t, p)
	s.do("first page", chromedp.Navigate(s.url+"/console/overview"))
	s.look("signin")
	s.do("sign in", chromedp.SendKeys(chromedp.CSS("#token"), operatorToken+kb.Enter))
	s.says("Answers are incomplete")
	s.says("operator alice")
	s.look("overview")
	s.says("Answers are complete") // it is fetched again
	s.keyboard()

	s.press(`nav a[href="/console/balancing"]`)
	s.says("What it would do now")
	s.look("balancing")
	s.press(`form[action="/console/do/pause"] button`)
	s.says("Balancing is paused.")
	s.do("drain", chromedp.Click(chromedp.CSS(`details.confirm summary`)), chromedp.Click(chromedp.CSS(`details.confirm[open] button`)))
	s.says("The slave is being drained")
	s.do("add", chromedp.SendKeys(chromedp.CSS("#address"), "10.0.0.9:7100"+kb.Enter))
	s.says("The slave is added")

	s.press(`nav a[href="/console/slices"]`)
	s.says("The ring of keys")
	s.look("slices")
	s.do("slice", chromedp.Navigate(s.url+"/console/slices/4"))
	s.says("nothing better was found for it")
	s.look("slice")
	s.do("move", chromedp.Click(chromedp.CSS(`details.confirm summary`)), chromedp.Click(chromedp.CSS(`details.confirm[open] button`)))
	s.says("The slice is being moved.")

	s.press(`nav a[href="/console/query"]`)
	s.says("Ask a query")
	s.do("ask", chromedp.SendKeys(chromedp.CSS("#q"), "usb kabel"), chromedp.SendKeys(chromedp.CSS("#keyword"), "7"+kb.Enter))
	s.says("USB <cable>")
	s.says("Why not 7")
	s.look("query")
	elsewhere, later := match(hit(20, 9, 1), search.LocationExcluded), match(hit(21, 9, 1), search.OffSchedule)
	elsewhere.Context = &targeting.Outcome{Verdict: targeting.LocationExcluded, Criterion: targeting.Criterion{Text: "place 2203"}}
	later.Context = &targeting.Outcome{Verdict: targeting.OffSchedule, Criterion: targeting.Criterion{Text: "Friday 15:40 in Europe/Prague"}}
	p.found.matches = append(p.found.matches, elsewhere, later)
	s.press(`details.context summary`)
	s.do("context", chromedp.SendKeys(chromedp.CSS("#place"), "2203"), chromedp.SendKeys(chromedp.CSS("#site"), "shop.example/cameras"+kb.Enter))
	s.says("1 location_excluded: the campaign excludes a place")
	s.look("query-context")
	s.press(`details.placements summary`)
	s.press(`button[name="add"]`)
	s.do("id", chromedp.SendKeys(chromedp.CSS("#placement_id0"), "top"), chromedp.SendKeys(chromedp.CSS("#placement_slots0"), "1"))
	s.press(`button[name="add"]`)
	s.do("id", chromedp.SendKeys(chromedp.CSS("#placement_id1"), "side"), chromedp.SendKeys(chromedp.CSS("#placement_block1"), "kids"+kb.Enter))
	s.says("Placement top")
	s.says("Not filled: ")
	s.look("query-placements")
	s.press(`form[action="/console/logout"] button`)
	s.says("Token of this port")

	want := []string{"pause true", "drain slave-0", "add 10.0.0.9:7100", "move 4 slave-2"}
	if got := strings.Join(p.control.Calls(), "; "); got != strings.Join(want, "; ") {
		t.Errorf("told %s", got)
	}
}

// TestDataInABrowser goes down the tree of the data, changes a bid and pauses a keyword.
func TestDataInABrowser(t *testing.T) {
	t.Parallel()
	_, with := fill(t, shop, nil)
	s := open(t, newPort(t, false, with, func(c *admin.Config) {
		c.Currency = "CZK"
		c.Data.ShowSpend(func(context.Context, backend.Snapshot, []*backend.Campaign) map[uint64]uint64 {
			return map[uint64]uint64{1: 37_431_112, 2: 0}
		})
	}))
	s.do("data", chromedp.Navigate(s.url+"/console/data"))
	s.look("data")
	s.do("find", chromedp.SendKeys(chromedp.CSS("#find"), "cab"+kb.Enter))
	s.says("None has “cab”")
	s.press(`a[href="/console/data/campaigns/1"]`)
	s.says("HDMI")
	s.look("campaign")
	s.press(`a[href="/console/data/groups/1"]`)
	s.says("usb cable")
	s.press(`#keyword1 details summary`)
	s.look("group")
	s.do("bid", chromedp.Evaluate[chromedp.Void](`document.querySelector("#keyword1 input[name=amount]").select()`),
		chromedp.SendKeys(chromedp.CSS("#keyword1 input[name=amount]"), "0.75"+kb.Enter))
	s.says("all live slaves serve it")
	s.says("0.75")
	s.press(`#keyword2 button[aria-label="Pause keyword 2"]`)
	s.says("paused")

	s.do("block lists", chromedp.Navigate(s.url+"/console/blocklists"), chromedp.SendKeys(chromedp.CSS("#name"), "family"),
		chromedp.SendKeys(chromedp.CSS("#domains"), "casino.example bets.example"), chromedp.SendKeys(chromedp.CSS("#categories"), "alcohol, gambling"+kb.Enter))
	s.says("The block list is created")
	s.look("blocklist")
	s.press(`button[aria-label="Remove domain bets.example"]`)
	s.says("Saved; queries see it within a second.")
	s.do("block lists", chromedp.Navigate(s.url+"/console/blocklists"))
	s.says("family")
	s.look("blocklists")

	path := filepath.Join(t.TempDir(), "ads.csv")
	if err := os.WriteFile(path, []byte(strings.Replace(csv, "0.75", "0.85", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.do("import", chromedp.Navigate(s.url+"/console/import"), chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{path}))
	s.press(`form.lab button`)
	s.says("over 10,000 units")
	s.look("import")
	s.press(`button.danger`)
	s.says("The file is imported.")
}

// keyboard goes from the top of the page to its content and to another page with the keyboard only.
func (s *screen) keyboard() {
	s.t.Helper()
	const focused = `String(document.activeElement.getAttribute("href"))`
	s.do("keyboard", chromedp.Navigate(s.url+"/console/overview"), chromedp.WaitReady(chromedp.CSS("main")), chromedp.KeyEvent(kb.Tab))
	first := find[string](s, focused)
	s.do("keyboard", chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab))
	second := find[string](s, focused)
	if first != "#main" || second != "/console/balancing" {
		s.t.Errorf("the first stops of the Tab key are %q and %q", first, second)
	}
}

// TestTroubleInABrowser: errors and empty states are readable, and a page whose port is gone says that it
// is out of date.
func TestTroubleInABrowser(t *testing.T) {
	t.Parallel()
	p := newPort(t, false)
	p.control.Status, p.control.Slaves = &api.BalanceStatus{Waiting: "2 of 3 slaves have registered", MaxOverMean: 1, LowerBound: 1}, &api.SlaveList{}
	p.control.History = &api.BalanceHistory{IntervalMs: 300_000}
	s := open(t, p)
	s.do("empty", chromedp.Navigate(s.url+"/console/overview"))
	s.says("2 of 3 slaves have registered")
	s.look("empty")
	s.do("no such slice", chromedp.Navigate(s.url+"/console/slices/6"))
	s.says("there is no slice 6")
	s.look("error")
	s.do("no such page", chromedp.Navigate(s.url+"/console/none"))
	s.says("There is no such page")
	s.press(`main a[href="/console/"]`)
	s.says("2 of 3 slaves have registered")
	s.do("gone", chromedp.Evaluate[chromedp.Void](`window.fetch = () => Promise.reject(new Error("gone"))`))
	s.says("what it shows is old")
}

// TestEmptyPagesInABrowser: the pages of a cluster without data, and of a file without a single
// importable row, are readable, and so are their errors.
func TestEmptyPagesInABrowser(t *testing.T) {
	t.Parallel()
	_, with := fill(t, shop, nil)
	p := newPort(t, false, with)
	p.control.Status, p.control.Slaves = &api.BalanceStatus{Strategy: "random", Waiting: "2 of 3 slaves have registered", MaxOverMean: 1, LowerBound: 1}, &api.SlaveList{}
	p.control.Strategies, p.control.Plan, p.control.History = &api.StrategyList{}, &api.BalancePlan{}, &api.BalanceHistory{IntervalMs: 300_000}
	p.found.hits, p.found.matches = nil, nil
	s := open(t, p)
	s.do("balancing", chromedp.Navigate(s.url+"/console/balancing"))
	s.says("There is nothing to draw yet")
	s.says("There is no slave.")
	s.look("balancing-empty")
	s.do("query", chromedp.Navigate(s.url+"/console/query"))
	s.says("Ask a query to see the ads that it gets")
	s.do("ask", chromedp.SendKeys(chromedp.CSS("#q"), "usb"+kb.Enter))
	s.says("No keyword matches.")
	s.look("query-empty")

	s.choose("wrong.csv", "Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC\nAcme,Cables,USB,usb cable,Broad,12000\nAcme,Cables,USB,,Broad,1\n")
	s.says("1 row is rejected, 1 skipped")
	s.says("over 10,000 units")
	s.says("the file changes nothing")
	s.look("import-rejects")
	s.choose("none.csv", "what is this?\n")
	s.says("no column of a Google Ads Editor file is in the header")
	s.look("import-error")

	broken := newPort(t, false)
	broken.control.Err, broken.found.err = fault.Newf(fault.Unavailable, "x", "another balancer leads"), fault.Newf(fault.Unavailable, "x", "no map of shards yet")
	other := httptest.NewServer(broken)
	t.Cleanup(other.Close)
	s.do("balancing", chromedp.Navigate(other.URL+"/console/balancing"))
	s.says("another balancer leads")
	s.look("balancing-error")
	s.do("query", chromedp.Navigate(other.URL+"/console/query?q=usb"))
	s.says("no map of shards yet")
	s.look("query-error")
}

// choose opens the preview of an import of a file.
func (s *screen) choose(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.do("choose "+name, chromedp.Navigate(s.url+"/console/import"), chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{path}))
	s.press(`form.lab button`)
}
