package console_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// TestBlocklistPages: an operator creates a block list, changes its entries and deletes it. A reader sees it without
// buttons.
func TestBlocklistPages(t *testing.T) {
	_, with := fill(t, shop, nil)
	p := newPort(t, true, with)
	b := &browser{t: t, port: p}
	signIn(t, b, operatorToken)
	has(t, b.get("/console/blocklists"), 200, "There is none.", "New block list", `href="/console/blocklists" aria-current="page"`)
	w := b.post("/console/blocklists", url.Values{"name": {" family "}, "domains": {"www.Casino.example\r\nb.example, c.example"}, "categories": {"alcohol"}, "advertisers": {"7"}, "uncategorised": {"on"}})
	if to := w.Header().Get("Location"); w.Code != 303 || to != "/console/blocklists/family?done=created" {
		t.Fatalf("%d %s %s", w.Code, to, w.Body)
	}
	const page = "/console/blocklists/family"
	has(t, b.get(page+"?done=created"), 200, "The block list is created", ">casino.example<", ">b.example<", ">alcohol<", `href="/console/data/advertisers/7"`, "<dd>blocked", "<dt>Entries</dt><dd>5<")
	has(t, b.get("/console/blocklists"), 200, `<a href="/console/blocklists/family">family</a>`)
	has(t, b.post(page, url.Values{"do": {"add"}, "categories": {"gambling"}}), 303)
	has(t, b.post(page, url.Values{"do": {"remove"}, "domains": {"b.example"}}), 303)
	has(t, b.post(page, url.Values{"do": {"allow"}}), 303)
	w = b.get(page)
	has(t, w, 200, ">gambling<", "<dd>shown")
	lacks(t, w, ">b.example<")

	old := regexp.MustCompile(`name="etag" value="&#34;([0-9a-f]{16})&#34;"`).FindStringSubmatch(w.Body.String())
	has(t, b.post(page, url.Values{"do": {"add"}, "domains": {"d.example"}}), 303)
	has(t, b.post(page, url.Values{"do": {"delete"}, "etag": {`"` + old[1] + `"`}}), 412, "somebody else has changed it")
	for _, form := range []url.Values{
		{"do": {"add"}}, {"do": {"add"}, "advertisers": {"x"}}, {"do": {"add"}, "domains": {"<b>"}}, {"do": {"none"}}, {}, {"do": {"add"}, "categories": {"A"}},
	} {
		has(t, b.post(page, form), 400, `role="alert"`, ">d.example<")
	}
	has(t, b.post(page, url.Values{"do": {"add"}, "domains": {"<i>"}}), 400, "&lt;i&gt;</textarea>")
	has(t, b.post("/console/blocklists", url.Values{"name": {"family"}}), 409, "already", `value="family"`)
	has(t, b.post("/console/blocklists", url.Values{"name": {"A"}}), 400, `role="alert"`)
	has(t, b.post("/console/blocklists", url.Values{"name": {"large"}, "domains": {strings.Repeat("x", 20<<10)}}), 400, "adshard blocklist set")
	has(t, b.get("/console/blocklists/none"), 404, `role="alert"`)

	reader := &browser{t: t, port: p}
	signIn(t, reader, readerToken)
	w = reader.get(page)
	has(t, w, 200, ">gambling<")
	lacks(t, w, "Remove", "Delete", "Add or remove")
	lacks(t, reader.get("/console/blocklists"), "New block list")
	has(t, reader.post(page, url.Values{"do": {"delete"}}), 403)

	has(t, b.post(page, url.Values{"do": {"delete"}}), 303)
	has(t, b.get("/console/blocklists?done=deleted"), 200, "The block list is deleted", "There is none.")
	if log := p.log.String(); !strings.Contains(log, `method=DELETE path=/v1/blocklists/family by="operator alice"`) {
		t.Errorf("the log has no line:\n%s", log)
	}
}

// TestLongBlocklistPages: long lists of block lists, and of their entries, are split into pages.
func TestLongBlocklistPages(t *testing.T) {
	_, with := fill(t, shop, nil)
	b := &browser{t: t, port: newPort(t, false, with)}
	var domains []string
	for i := range 150 {
		domains = append(domains, fmt.Sprintf("h%03d.example", i))
		has(t, b.post("/console/blocklists", url.Values{"name": {fmt.Sprintf("l%03d", i)}, "domains": {strings.Join(domains, " ")}}), 303)
	}
	for _, c := range []struct{ page, first, last, link string }{
		{"/console/blocklists", ">l000<", ">l149<", "Further block lists"}, {"/console/blocklists/l149", ">h000.example<", ">h149.example<", "Further entries"},
	} {
		w := b.get(c.page)
		has(t, w, 200, c.first, c.link)
		lacks(t, w, c.last)
		next := regexp.MustCompile(`<a href="([^"]*)">` + c.link).FindStringSubmatch(w.Body.String())
		w = b.get(strings.ReplaceAll(next[1], "&amp;", "&"))
		has(t, w, 200, c.last)
		lacks(t, w, c.first, c.link)
	}
}
