package admin_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"adshard/blocklist"
	"adshard/internal/node/httpapi/api"
)

// list reads a block list, page by page.
func (w *world) list(name string, limit int) (l api.Blocklist) {
	w.T.Helper()
	for cursor := ""; ; {
		q := url.Values{"limit": {fmt.Sprint(limit)}, "cursor": {cursor}}
		a := decode[api.BlocklistAnswer](w, w.must("GET", "/v1/blocklists/"+name+"?"+q.Encode(), "", "Authorization", "Bearer "+readerToken))
		l.Name, l.Version, l.Etag, l.Entries, l.BlockUncategorised = a.Blocklist.Name, a.Blocklist.Version, a.Blocklist.Etag, a.Blocklist.Entries, a.Blocklist.BlockUncategorised
		l.Advertisers = append(l.Advertisers, a.Blocklist.Advertisers...)
		l.Domains = append(l.Domains, a.Blocklist.Domains...)
		l.Categories = append(l.Categories, a.Blocklist.Categories...)
		if a.Next == "" {
			return l
		}
		cursor = a.Next
	}
}

// is fails the test unless a list has these entries.
func (w *world) is(name string, advertisers, domains, categories string, uncategorised bool) (l api.Blocklist) {
	w.T.Helper()
	for _, limit := range []int{1, 100} {
		l = w.list(name, limit)
		if fmt.Sprint(l.Advertisers, l.Domains, l.Categories, l.BlockUncategorised) != fmt.Sprintf("[%s] [%s] [%s] %v", advertisers, domains, categories, uncategorised) {
			w.T.Errorf("%+v", l)
		}
		if l.Entries != len(l.Advertisers)+len(l.Domains)+len(l.Categories) {
			w.T.Errorf("%d entries: %+v", l.Entries, l)
		}
	}
	return l
}

func TestBlocklistFromCreationToRemoval(t *testing.T) {
	w := newWorld(t)
	if a := w.must("GET", "/v1/blocklists", ""); a.body != `{"blocklists":[]}`+"\n" {
		t.Error(a.body)
	}
	created := decode[api.BlocklistChange](w, w.must("POST", "/v1/blocklists",
		`{"name":"family","categories":["alcohol","gambling","alcohol"],"domains":["www.Casino.example"],"advertisers":[7],"block_uncategorised":true}`))
	if created.Effect != "created" || created.Entries != 4 || created.Version != 1 {
		t.Errorf("%+v", created)
	}
	l := w.is("family", "7", "casino.example", "alcohol gambling", true)
	if l.Etag != created.Etag || l.Version != created.Version {
		t.Errorf("%+v, %+v", l, created)
	}
	w.must("PATCH", "/v1/blocklists/family", `{"remove":{"categories":["alcohol","never"]},"add":{"domains":["b.example","casino.example"],"advertisers":[3]}}`, "If-Match", l.Etag)
	l = w.is("family", "3 7", "b.example casino.example", "gambling", true)
	w.must("PATCH", "/v1/blocklists/family", `{"domains":["c.example"],"advertisers":null,"block_uncategorised":false,"remove":{"domains":["c.example","x.example"]},"add":{"domains":["x.example"]}}`)
	l = w.is("family", "", "x.example", "gambling", false)
	same := decode[api.BlocklistChange](w, w.must("PATCH", "/v1/blocklists/family", `{"domains":["x.example"]}`))
	if same.Effect != "updated" || same.Version != l.Version || same.Etag != l.Etag {
		t.Errorf("nothing is different, but %+v came of %+v", same, l)
	}
	w.must("POST", "/v1/blocklists", `{"name":"empty"}`)
	w.is("empty", "", "", "", false)
	first := decode[api.BlocklistList](w, w.must("GET", "/v1/blocklists?limit=1", ""))
	if len(first.Blocklists) != 1 || first.Blocklists[0].Name != "empty" || first.Next != "empty" {
		t.Errorf("%+v", first)
	}
	second := decode[api.BlocklistList](w, w.must("GET", "/v1/blocklists?limit=1&cursor="+first.Next, ""))
	if len(second.Blocklists) != 1 || second.Blocklists[0] != (api.BlocklistHead{Name: "family", Version: l.Version, Etag: l.Etag}) || second.Next != "" {
		t.Errorf("%+v", second)
	}
	if a := w.ask("GET", "/v1/blocklists/family", "", "If-None-Match", l.Etag); a.status != 304 {
		t.Errorf("%d %s", a.status, a.body)
	}
	removed := decode[api.BlocklistChange](w, w.must("DELETE", "/v1/blocklists/family", "", "If-Match", l.Etag))
	if removed != (api.BlocklistChange{Effect: "removed", Name: "family"}) {
		t.Errorf("%+v", removed)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if a := w.ask(method, "/v1/blocklists/family", ""); a.status != 404 {
			t.Errorf("%s: %d %s", method, a.status, a.body)
		}
	}
	again := decode[api.BlocklistChange](w, w.must("POST", "/v1/blocklists", `{"name":"family","domains":["x.example"],"categories":["gambling"]}`))
	if again.Version <= l.Version || again.Etag == l.Etag {
		t.Errorf("the same entries in a new list: %+v after %+v", again, l)
	}
	if text := w.log.String(); !strings.Contains(text, `by="operator alice"`) || !strings.Contains(text, `first="removed block list family"`) ||
		!strings.Contains(text, "method=PATCH path=/v1/blocklists/family") {
		t.Errorf("the log says %s", text)
	}
}

// TestWrongBlocklistRequests: each request is refused with the field at fault, and changes nothing.
func TestWrongBlocklistRequests(t *testing.T) {
	w := newWorld(t)
	w.must("POST", "/v1/blocklists", `{"name":"a","domains":["a.example"]}`)
	reader, wrong := []string{"Authorization", "Bearer " + readerToken}, []string{"If-Match", `"0000000000000000"`}
	for _, c := range []wrongRequest{
		{"POST", "/v1/blocklists", `{"name":"a"}`, 409, "already", nil},
		{"POST", "/v1/blocklists", `{"domains":["a.example"]}`, 400, `"field":"name"`, nil},
		{"POST", "/v1/blocklists", `{"name":"A"}`, 400, `"field":"name"`, nil},
		{"POST", "/v1/blocklists", `{"name":".."}`, 400, `"field":"name"`, nil},
		{"POST", "/v1/blocklists", `{"name":7}`, 400, `"field":"name"`, nil},
		{"POST", "/v1/blocklists", `{"name":"` + strings.Repeat("b", 65) + `"}`, 400, `"field":"name"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","add":{}}`, 400, `"field":"add"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","advertiser_names":["Acme"]}`, 400, `"field":"advertiser_names"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","domains":["a b"]}`, 400, `"field":"domains"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","domains":"a.example"}`, 400, `"field":"domains"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","domains":[["a.example"]]}`, 400, `"field":"domains"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","domains":[null]}`, 400, `"field":"domains"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","domains":["a.example"`, 400, "not JSON", nil},
		{"POST", "/v1/blocklists", `{"name":"b","advertisers":[0]}`, 400, `"field":"advertisers"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","advertisers":["1"]}`, 400, `"field":"advertisers"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","advertisers":[1.5]}`, 400, `"field":"advertisers"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","categories":["A"]}`, 400, `"field":"categories"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b","block_uncategorised":1}`, 400, `"field":"block_uncategorised"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b"}`, 400, `"field":"If-Match"`, wrong},
		{"POST", "/v1/blocklists", `{"name":"b"}`, 400, `"field":"Idempotency-Key"`, []string{"Idempotency-Key", "k"}},
		{"POST", "/v1/blocklists?wait=served", `{"name":"b"}`, 400, `"field":"wait"`, nil},
		{"POST", "/v1/blocklists", `{"name":"b"}`, 403, "", reader},
		{"POST", "/v1/blocklists", `{"name":"b"}`, 415, "", []string{"Content-Type", "text/plain"}},
		{"PATCH", "/v1/blocklists/a", `{}`, 400, "nothing", nil},
		{"PATCH", "/v1/blocklists/a", `{"name":"b"}`, 400, `"field":"name"`, nil},
		{"PATCH", "/v1/blocklists/a", `{"add":null}`, 400, "", nil},
		{"PATCH", "/v1/blocklists/a", `{"add":{"domains":["b.example"],"domains":["c.example"]}}`, 400, `"field":"domains"`, nil},
		{"PATCH", "/v1/blocklists/a", `{"add":{"domains":["b/c"]}}`, 400, `"field":"add.domains"`, nil},
		{"PATCH", "/v1/blocklists/a", `{"add":{"domains":[7]}}`, 400, `"field":"add.domains"`, nil},
		{"PATCH", "/v1/blocklists/a", `{"remove":{"block_uncategorised":true}}`, 400, `"field":"remove.block_uncategorised"`, nil},
		{"PATCH", "/v1/blocklists/b", `{"add":{"domains":["b.example"]}}`, 404, `block list \"b\"`, nil},
		{"PATCH", "/v1/blocklists/A", `{"add":{"domains":["b.example"]}}`, 400, `"field":"name"`, nil},
		{"PATCH", "/v1/blocklists/a", `{"add":{"domains":["b.example"]}}`, 412, "ETag", wrong},
		{"PATCH", "/v1/blocklists/a", `{"add":{"domains":["b.example"]}}`, 403, "", reader},
		{"DELETE", "/v1/blocklists/a", "", 412, "ETag", wrong},
		{"DELETE", "/v1/blocklists/a", "{}", 400, "no body", nil},
		{"DELETE", "/v1/blocklists/a", "", 403, "", reader},
		{"GET", "/v1/blocklists/A", "", 400, `"field":"name"`, nil},
		{"GET", "/v1/blocklists/a?cursor=x", "", 400, `"field":"cursor"`, nil},
		{"GET", "/v1/blocklists/a?limit=10001", "", 400, `"field":"limit"`, nil},
		{"GET", "/v1/blocklists?cursor=A", "", 400, `"field":"cursor"`, nil},
		{"GET", "/v1/blocklists?limit=1001", "", 400, `"field":"limit"`, nil},
	} {
		a := w.ask(c.method, c.path, c.body, c.header...)
		if a.status != c.status || !strings.Contains(a.body, c.says) {
			t.Errorf("%s %s %.60s: %d %.300s; want %d and %s", c.method, c.path, c.body, a.status, a.body, c.status, c.says)
		}
	}
	if l := w.is("a", "", "a.example", "", false); l.Version != 1 {
		t.Errorf("%+v", l)
	}
	if all := decode[api.BlocklistList](w, w.must("GET", "/v1/blocklists", "")); len(all.Blocklists) != 1 {
		t.Errorf("%+v", all)
	}
}

// TestBlocklistChangesAtOnce: entries that many clients add at the same time are all kept. Of many clients that have seen the same state,
// only one makes its change.
func TestBlocklistChangesAtOnce(t *testing.T) {
	w := newWorld(t)
	w.must("POST", "/v1/blocklists", `{"name":"a"}`)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if a := w.ask("PATCH", "/v1/blocklists/a", fmt.Sprintf(`{"add":{"advertisers":[%d]}}`, i+1)); a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	all.Wait()
	l := w.is("a", "1 2 3 4 5 6 7 8", "", "", false)
	statuses := make([]int, 4)
	for i := range statuses {
		all.Go(func() {
			statuses[i] = w.ask("PATCH", "/v1/blocklists/a", fmt.Sprintf(`{"remove":{"advertisers":[%d]}}`, i+1), "If-Match", l.Etag).status
		})
	}
	all.Wait()
	won := 0
	for _, s := range statuses {
		if s == 200 {
			won++
		} else if s != 412 {
			t.Errorf("%v", statuses)
		}
	}
	if l := w.list("a", 100); won != 1 || l.Entries != 7 {
		t.Errorf("%v, %+v", statuses, l)
	}
}

// slowReader does not take any of an answer until it may.
type slowReader struct {
	*httptest.ResponseRecorder
	begun *sync.WaitGroup
	may   chan struct{}
}

func (r slowReader) Write(b []byte) (int, error) {
	r.begun.Done()
	<-r.may
	return r.ResponseRecorder.Write(b)
}

// TestSlowReadersHoldNobodyUp: lists can be changed, however many clients do not take the answers that they asked for.
func TestSlowReadersHoldNobodyUp(t *testing.T) {
	w := newWorld(t)
	w.must("POST", "/v1/blocklists", `{"name":"a"}`)
	var begun, all sync.WaitGroup
	may := make(chan struct{})
	for range 8 {
		begun.Add(1)
		all.Go(func() {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/v1/blocklists/a", nil)
			r.Header.Set("Authorization", "Bearer "+readerToken)
			w.ServeHTTP(slowReader{httptest.NewRecorder(), &begun, may}, r)
		})
	}
	begun.Wait()
	w.must("PATCH", "/v1/blocklists/a", `{"add":{"advertisers":[1]}}`)
	close(may)
	all.Wait()
}

// TestLargeBlocklist: a list of a million entries is sent in one request, changed by one entry, and read in pages.
func TestLargeBlocklist(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	b.WriteString(`{"name":"large","domains":["a.example"`)
	for i := range blocklist.MaxEntries - 1 {
		fmt.Fprintf(&b, `,"h%d.example"`, i)
	}
	b.WriteString(`]}`)
	if a := w.ask("POST", "/v1/blocklists", b.String()); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := w.ask("PATCH", "/v1/blocklists/large", `{"add":{"domains":["one.more"]}}`); a.status != 400 || !strings.Contains(a.body, `"field":"domains"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	w.must("PATCH", "/v1/blocklists/large", `{"remove":{"domains":["a.example"]},"add":{"domains":["one.more"]}}`)
	q := url.Values{"limit": {"10000"}, "cursor": {"d.h999.example"}}
	a := decode[api.BlocklistAnswer](w, w.must("GET", "/v1/blocklists/large?"+q.Encode(), ""))
	if n := len(a.Blocklist.Domains); a.Blocklist.Entries != blocklist.MaxEntries || n == 0 || n > 2000 || a.Blocklist.Domains[n-1] != "one.more" || a.Next != "" {
		t.Errorf("%d of %d, then %q", n, a.Blocklist.Entries, a.Next)
	}
	if a := w.ask("POST", "/v1/blocklists", `{"name":"larger","domains":["`+strings.Repeat("x", 32<<20)+`"]}`); a.status != 413 {
		t.Errorf("%d %.200s", a.status, a.body)
	}
}
