package clustertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/ingest"
	"adshard/ingest/geotargets"
	"adshard/internal/goldentest"
)

// ImportTargeting imports the golden set of targeting: a table of places, accounts whose campaigns have dates, schedules, places,
// audiences, sites, categories and modifiers, and block lists. It returns some of its requests, most of them with a context and blocks,
// with the answers on which two independent readings of serving.md agree.
func ImportTargeting(t *testing.T, store backend.Store) []Question {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, strings.TrimSuffix(name, ".gz"))
		if err := os.WriteFile(path, goldentest.Read(t, "targeting/golden/"+name), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := geotargets.Import(t.Context(), store, file("places.csv"), geotargets.Options{}); err != nil {
		t.Fatal(err)
	}
	list := []string{file("editor.csv.gz"), file("entities.jsonl.gz"), file("blocklists.jsonl")}
	if _, err := ingest.Run(t.Context(), store, list, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	return goldenQuestions(t)
}

// goldenQuestions returns some requests of the golden set, spread over all of them.
func goldenQuestions(t *testing.T) (questions []Question) {
	t.Helper()
	requests := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "targeting/golden/requests.jsonl.gz")))
	requests.UseNumber()
	wants := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "targeting/golden/want.jsonl.gz")))
	for n := 0; requests.More(); n++ {
		var request map[string]any
		var want Answer
		if err := errors.Join(requests.Decode(&request), wants.Decode(&want)); err != nil {
			t.Fatal(err)
		}
		if n%(3000/(2*most)) != 0 {
			continue
		}
		q := Question{text: fmt.Sprint(request["q"]), device: fmt.Sprint(request["device"]), matched: want.Matched, candidates: want.Candidates,
			ads: want.Ads, params: parameters(request)}
		for i := range q.ads {
			q.ads[i].Position = i + 1
		}
		questions = append(questions, q)
	}
	return questions
}

// parameters returns the parameters of a query string for a request's body.
func parameters(body map[string]any) url.Values {
	v := url.Values{}
	for name, value := range body {
		if point, ok := value.(map[string]any); ok {
			value = fmt.Sprintf("%v,%v", point["lat"], point["lon"])
		}
		list, ok := value.([]any)
		if !ok {
			v.Set(name, fmt.Sprint(value))
			continue
		}
		name = strings.TrimSuffix(name, "s")
		if name == "block_categorie" {
			name = "block_category"
		}
		for _, one := range list {
			v.Add(name, fmt.Sprint(one))
		}
	}
	return v
}
