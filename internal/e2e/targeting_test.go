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

// TestTargetingEdges holds the search, over its HTTP handler, against cases on which two independent readings of serving.md §11 to §14
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

// TestTargetingGolden: 3,000 requests to a catalogue, most of whose campaigns have targeting.
func TestTargetingGolden(t *testing.T) {
	h := targetingHandler(t, goldenTargeting(t))
	requests := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "targeting/golden/requests.jsonl.gz")))
	wants := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "targeting/golden/want.jsonl.gz")))
	n := 0
	for ; requests.More(); n++ {
		var request map[string]any
		var w targetingWant
		if err := errors.Join(requests.Decode(&request), wants.Decode(&w)); err != nil {
			t.Fatal(err)
		}
		if diff := askTargeted(t, h, request, w); diff != "" {
			t.Errorf("request %d %v:\n%s", n, request, diff)
		}
	}
	if n != 3000 {
		t.Errorf("%d requests", n)
	}
}

// TestMissesAreExplained draws 200 keywords of the golden set that targeting or a block keeps from being shown, as evenly over the
// verdicts as there are some: each explanation says what decided and what to change. go test -v prints them for a reader.
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

// explained is a request's body as the query string of its explanation.
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

// goldenTargeting is the golden set's files, as one import.
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
	all, lists, table := importFiles(t, c.Files)
	store := withLists{fill(t, all), lists}
	return searchapi.New(searchapi.Config{
		Searcher: store, Explainer: store, Counter: store, Reserve: reserve, Places: func() *places.Table { return table },
		IncludeUnknownLocations: c.UnknownLocation == "include",
		List: func(name string) (uint64, error) {
			if lists[name] == nil {
				return 0, blocklist.CheckName("")
			}
			return 1, nil
		},
	})
}

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
	id, _ := request["request_id"].(string)
	body := map[string]any{"why_empty": true}
	for k, v := range request {
		if k != "request_id" {
			body[k] = v
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/search", bytes.NewReader(raw))
	r.Header.Set("Content-Type", "application/json")
	if id != "" {
		r.Header.Set("X-Request-Id", id)
	}
	res := httptest.NewRecorder()
	h.ServeHTTP(res, r)
	var got struct {
		Matched, Candidates uint64
		Ads                 []map[string]any
		Why                 map[string]uint64
		Unknown             []uint64 `json:"unknown_locations"`
		Error               struct{ Field string }
	}
	if err := json.Unmarshal(res.Body.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, res.Body)
	}
	if w.Error != 0 || res.Code != http.StatusOK {
		if res.Code != max(w.Error, 200) || got.Error.Field != w.Field {
			return fmt.Sprintf("%d at %q, want %d at %q: %s", res.Code, got.Error.Field, w.Error, w.Field, res.Body)
		}
		return ""
	}
	var diff []string
	note := func(name string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			diff = append(diff, fmt.Sprintf("%s: %v, want %v", name, got, want))
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
	return strings.Join(diff, "\n")
}

// withLists is a store that knows stored block lists, as a slave does.
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
	return &own
}

func (w withLists) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	return w.store.Search(ctx, w.resolved(r))
}

func (w withLists) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	return w.store.Explain(ctx, w.resolved(r), limit)
}
