package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"adshard/backend/sqlite"
	"adshard/blocklist"
	"adshard/internal/goldentest"
	"adshard/internal/node/searchapi"
	"adshard/places"
	"adshard/search"
	"adshard/targeting"
)

// targetingCase is a case of targeting/edges/cases.jsonl.
type targetingCase struct {
	Name, Comment   string
	Files           []caseFile
	UnknownLocation string `json:"unknown_location"`
	Requests        []struct {
		Request map[string]any
		Want    targetingWant
	}
}

type targetingWant struct {
	Error               int
	Field               string
	Matched, Candidates uint64
	Ads                 []map[string]any
	Why                 map[string]uint64
	Unknown             []uint64 `json:"unknown_locations"`
}

// TestTargetingEdges compares the search, over its HTTP handler, with cases on which two independent readings of serving.md §11 to §14
// agree.
func TestTargetingEdges(t *testing.T) {
	d := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "targeting/edges/cases.jsonl")))
	for d.More() {
		var c targetingCase
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name, func(t *testing.T) {
			h := targetingHandler(t, c)
			for i, r := range c.Requests {
				if diff := askTargeted(t, h, r.Request, r.Want); diff != "" {
					t.Errorf("%s\nrequest %d %v:\n%s", c.Comment, i, r.Request, diff)
				}
			}
		})
	}
}

// TestTargetingGolden sends 3,000 requests to a catalogue in which most campaigns have targeting.
func TestTargetingGolden(t *testing.T) {
	h := targetingHandler(t, goldenTargeting(t))
	for n, q := range goldenRequests(t) {
		if diff := askTargeted(t, h, q.request, q.want); diff != "" {
			t.Errorf("request %d %v:\n%s", n, q.request, diff)
		}
	}
}

// goldenRequest is a request of the golden set with its answer.
type goldenRequest struct {
	request map[string]any
	want    targetingWant
}

func goldenRequests(t *testing.T) (list []goldenRequest) {
	t.Helper()
	requests := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "targeting/golden/requests.jsonl.gz")))
	wants := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "targeting/golden/want.jsonl.gz")))
	for requests.More() {
		var q goldenRequest
		if err := errors.Join(requests.Decode(&q.request), wants.Decode(&q.want)); err != nil {
			t.Fatal(err)
		}
		list = append(list, q)
	}
	if len(list) != 3000 {
		t.Fatalf("%d requests", len(list))
	}
	return list
}

// TestMissesAreExplained draws 200 keywords of the golden set that targeting or a block excludes, as evenly over the verdicts as
// possible. Each explanation names the deciding rule and what to change. go test -v prints them for a reader.
func TestMissesAreExplained(t *testing.T) {
	h := targetingHandler(t, goldenTargeting(t))
	requests := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "targeting/golden/requests.jsonl.gz")))
	requests.UseNumber()
	type miss struct {
		Verdict, Reason, Keyword, Campaign, Group string
		asked                                     string
	}
	byVerdict, ofTargeting := map[string][]miss{}, map[string]bool{}
	for v := range search.Verdict(search.Verdicts) {
		ofTargeting[v.String()] = v.OfTargeting()
	}
	for range 600 {
		var request map[string]any
		if err := requests.Decode(&request); err != nil {
			t.Fatal(err)
		}
		asked := explained(request)
		res := httptest.NewRecorder()
		h.ServeHTTP(res, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/v1/explain?limit=1000&"+asked, nil))
		var got struct{ Matches []miss }
		if err := json.Unmarshal(res.Body.Bytes(), &got); err != nil || res.Code != http.StatusOK {
			t.Fatalf("%d %v: %s", res.Code, err, res.Body)
		}
		for _, m := range got.Matches {
			if ofTargeting[m.Verdict] {
				m.asked = asked
				byVerdict[m.Verdict] = append(byVerdict[m.Verdict], m)
			}
		}
	}
	if len(byVerdict) != 12 {
		t.Errorf("%d verdicts: %v", len(byVerdict), slices.Collect(maps.Keys(byVerdict)))
	}
	dice, n := rand.New(rand.NewPCG(1, 2)), 0
	for n < 200 {
		for _, v := range slices.Sorted(maps.Keys(byVerdict)) {
			list := byVerdict[v]
			if len(list) == 0 || n == 200 {
				continue
			}
			i := dice.IntN(len(list))
			m := list[i]
			byVerdict[v] = slices.Delete(list, i, i+1)
			n++
			t.Logf("%s\n  %s of %s / %s: %s: %s", m.asked, m.Keyword, m.Campaign, m.Group, m.Verdict, m.Reason)
			if what, change, ok := strings.Cut(m.Reason, ": "); !ok || what == "" || change == "" || strings.Contains(m.Reason, "  ") {
				t.Errorf("%s: %q", m.Verdict, m.Reason)
			}
		}
	}
}

// explained returns a request's body as the query string of its explanation.
func explained(body map[string]any) string {
	q := url.Values{}
	for name, v := range body {
		switch name {
		case "request_id", "counts", "slots":
			continue
		case "block_categories":
			name = "block_category"
		case "locations", "interest_locations", "languages", "audiences", "block_advertisers", "block_domains":
			name = strings.TrimSuffix(name, "s")
		case "point":
			p := v.(map[string]any)
			v = fmt.Sprintf("%v,%v", p["lat"], p["lon"])
		}
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, one := range list {
			q.Add(name, fmt.Sprint(one))
		}
	}
	return q.Encode()
}

// goldenTargeting returns the golden set's files as one import.
func goldenTargeting(t *testing.T) (c targetingCase) {
	t.Helper()
	for _, name := range []string{"places.csv", "editor.csv.gz", "entities.jsonl.gz", "blocklists.jsonl"} {
		text := goldentest.Read(t, "targeting/golden/"+name)
		c.Files = append(c.Files, caseFile{strings.TrimSuffix(name, ".gz"), string(text)})
	}
	return c
}

// targetingHandler imports the files of a case and serves them from one store in memory.
func targetingHandler(t *testing.T, c targetingCase) http.Handler {
	t.Helper()
	d := importTargeting(t, c)
	return d.handler(c, withLists{fill(t, d.all), d.lists})
}

// targetingData is the data that the files of a case make.
type targetingData struct {
	all    everything
	places *places.Table
	lists  map[string]*targeting.Blocks
}

func importTargeting(t *testing.T, c targetingCase) (d targetingData) {
	t.Helper()
	d.all, d.lists, d.places = importFiles(t, c.Files)
	return d
}

// handler returns a handler that answers searches of a case with a searcher.
func (d *targetingData) handler(c targetingCase, s interface {
	search.Searcher
	search.Explainer
}) http.Handler {
	return searchapi.New(searchapi.Config{
		Searcher: s, Explainer: s, Counter: s, Reserve: reserve, Places: func() *places.Table { return d.places },
		IncludeUnknownLocations: c.UnknownLocation == "include",
		List: func(name string) (uint64, error) {
			if d.lists[name] == nil {
				return 0, blocklist.CheckName("")
			}
			return listVersion, nil
		},
	})
}

// listVersion is the version of each list of a case.
const listVersion = 1

func storedLists(t *testing.T, db *sqlite.Store) map[string]*targeting.Blocks {
	t.Helper()
	heads, err := blocklist.Heads(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*targeting.Blocks{}
	for _, h := range heads {
		stored, err := blocklist.Load(t.Context(), db, h.Name)
		if err != nil {
			t.Fatal(err)
		}
		all[h.Name] = stored.List.Blocks()
		all[h.Name].Name = h.Name
	}
	return all
}

// askTargeted returns how the answer differs from the wanted one.
func askTargeted(t *testing.T, h http.Handler, request map[string]any, w targetingWant) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/search", bytes.NewReader(targetedBody(t, request, nil)))
	targetedHeaders(r, request)
	res := httptest.NewRecorder()
	h.ServeHTTP(res, r)
	diff, _ := w.difference(t, res.Code, res.Body.Bytes())
	return diff
}

// targetedBody returns the body of a request, with more fields.
func targetedBody(t *testing.T, request, more map[string]any) []byte {
	t.Helper()
	body := map[string]any{"why_empty": true}
	maps.Copy(body, request)
	maps.Copy(body, more)
	delete(body, "request_id")
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func targetedHeaders(r *http.Request, request map[string]any) {
	r.Header.Set("Content-Type", "application/json")
	if id, _ := request["request_id"].(string); id != "" {
		r.Header.Set("X-Request-Id", id)
	}
}

// difference returns how an answer differs from the wanted one, and whether all shards have answered.
func (w *targetingWant) difference(t *testing.T, status int, body []byte) (diff string, complete bool) {
	t.Helper()
	var got struct {
		Matched, Candidates uint64
		Ads                 []map[string]any
		Why                 map[string]uint64
		Unknown             []uint64 `json:"unknown_locations"`
		Error               struct{ Field string }
		Coverage            struct{ Complete bool }
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if w.Error != 0 || status != http.StatusOK {
		if status != max(w.Error, 200) || got.Error.Field != w.Field {
			return fmt.Sprintf("%d at %q, want %d at %q: %s", status, got.Error.Field, w.Error, w.Field, body), true
		}
		return "", true
	}
	var list []string
	note := func(name string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			list = append(list, fmt.Sprintf("%s: %v, want %v", name, got, want))
		}
	}
	note("matched", got.Matched, w.Matched)
	note("candidates", got.Candidates, w.Candidates)
	note("unknown", got.Unknown, w.Unknown)
	note("ads", len(got.Ads), len(w.Ads))
	for i := range min(len(got.Ads), len(w.Ads)) {
		for field, want := range w.Ads[i] {
			note(fmt.Sprintf("ad %d: %s", i, field), got.Ads[i][field], want)
		}
	}
	if len(w.Ads) == 0 && len(w.Why) > 0 && !reflect.DeepEqual(got.Why, w.Why) {
		note("why", got.Why, w.Why)
	}
	return strings.Join(list, "\n"), got.Coverage.Complete
}

// withLists is a store with stored block lists, as a slave has them.
type withLists struct {
	store interface {
		search.Searcher
		search.Explainer
	}
	lists map[string]*targeting.Blocks
}

func (w withLists) resolved(r *search.Request) *search.Request {
	own, at := *r, *r.Context
	for _, l := range at.Lists {
		at.Blocks = append(at.Blocks[:len(at.Blocks):len(at.Blocks)], w.lists[l.Name])
	}
	own.Context = &at
	if r.Page != nil {
		page := *r.Page
		page.Filters = slices.Clone(page.Filters)
		for i := range page.Filters {
			f := &page.Filters[i]
			for _, l := range f.Lists {
				f.Blocks = append(f.Blocks[:len(f.Blocks):len(f.Blocks)], w.lists[l.Name])
			}
		}
		own.Page = &page
	}
	return &own
}

func (w withLists) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	return w.store.Search(ctx, w.resolved(r))
}

func (w withLists) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	return w.store.Explain(ctx, w.resolved(r), limit)
}
