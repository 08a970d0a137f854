package e2e

import (
	"encoding/json"
	"net/url"
	"reflect"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/internal/clustertest"
	"adshard/internal/goldentest"
	"adshard/quality"
	"adshard/quality/revise"
)

// TestLearnedQualities: with learned qualities a cluster gives the same answers as one whose keywords were given
// these qualities. Explanations list the counts behind them. When they are removed, the answers are the golden ones
// again.
func TestLearnedQualities(t *testing.T) {
	var wants []want
	for _, w := range readWants(t, "edges/want.jsonl") {
		if w.Profile == "default" {
			wants = append(wants, w)
		}
	}
	file := goldentest.Read(t, "edges/editor.csv")
	turned := func(patch func(k *backend.KeywordPatch, turned uint8)) *cluster {
		db := importEditor(t, file, 0)
		turn(t, db, patch)
		return startCluster(t, db, 3, false, "default")
	}
	learned := turned(func(k *backend.KeywordPatch, q uint8) {
		k.Learned = backend.To(backend.NewLearned(q, uint8(quality.LevelGroup), 1200.3, 61))
	})
	given := turned(func(k *backend.KeywordPatch, q uint8) { k.Quality = backend.To(q) })
	others := 0
	for _, w := range wants {
		a, b := learned.search(t, params(w, true)), given.search(t, params(w, true))
		if !reflect.DeepEqual(a.Ads, b.Ads) || a.Matched != b.Matched || a.Candidates != b.Candidates {
			t.Errorf("%q: learned %+v, given %+v", w.Query, a, b)
		}
		if difference(w, a, true) != "" {
			others++
		}
	}
	if others == 0 {
		t.Error("learned qualities change no answer")
	}
	learned.explainsLearned(t, wants)

	store, err := sqlite.Open(t.Context(), learned.db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	plan, err := revise.Given(t.Context(), store, 0)
	if err == nil {
		_, err = plan.Write(t.Context(), store, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	newest, err := store.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(clustertest.Patience); learned.search(t, params(wants[0], true)).Coverage.AppliedClock < newest.Clock; {
		if time.Now().After(end) {
			t.Fatal("the cluster does not follow")
		}
		time.Sleep(20 * time.Millisecond)
	}
	compare(t, learned, wants)
}

// turn changes all keywords of a database: each gets 11 minus its quality.
func turn(t *testing.T, path string, patch func(k *backend.KeywordPatch, turned uint8)) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	tx, err := store.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, it := range readAll(t, path).items {
		for i := range it.Keywords {
			k := &it.Keywords[i]
			p := backend.KeywordPatch{Text: k.Text, Words: k.Words, Type: k.Type}
			patch(&p, 11-k.Quality)
			if err := tx.Keyword(t.Context(), it.Group.ID, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// explainsLearned checks the explanation of a query that finds a keyword.
func (c *cluster) explainsLearned(t *testing.T, wants []want) {
	t.Helper()
	for _, w := range wants {
		if w.Candidates == 0 {
			continue
		}
		v := url.Values{"q": {w.Query}, "device": {w.Device}, "variants": {w.Variants}, "timeout_ms": {"5000"}}
		resp, err := c.client.Get(c.http + "/v1/explain?" + v.Encode())
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var a struct {
			Matches []struct {
				Points  int `json:"quality_points"`
				Learned *struct {
					Given       int `json:"given_quality"`
					Level       string
					Impressions int
					Clicks      int
				}
			}
		}
		if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || len(a.Matches) == 0 {
			t.Fatalf("%q: %+v, %v", w.Query, a, err)
		}
		for _, m := range a.Matches {
			if l := m.Learned; l == nil || l.Given != 11-m.Points || l.Level != "group" || l.Impressions != 1200 || l.Clicks != 61 {
				t.Errorf("%q: quality %d, learned %+v", w.Query, m.Points, l)
			}
		}
		return
	}
	t.Fatal("no query finds anything")
}
