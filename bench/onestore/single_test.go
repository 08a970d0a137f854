package onestore

import (
	"context"
	"slices"
	"testing"

	"adshard/bench/measure"
	"adshard/search"
)

// recording is a store that finds nothing and records what it was asked.
type recording struct{ texts []string }

func (s *recording) Search(_ context.Context, r *search.Request) (*search.Answer, error) {
	s.texts = append(s.texts, r.Query.Text)
	return &search.Answer{Width: search.WholeRing()}, nil
}

// TestSingle checks that no query is asked twice, and that only the second half
// is counted.
func TestSingle(t *testing.T) {
	store := &recording{}
	p := &Plan{Store: store, Queries: []string{"a", "b", "a", "c", "b", "d", "e"}, Slots: 4, Profile: search.DefaultProfile(), Variants: search.Identical}
	r, err := p.Single(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "c", "d", "e"}; !slices.Equal(store.texts, want) || r.Asked != 3 {
		t.Errorf("asked %v, %d counted; want %v, 3", store.texts, r.Asked, want)
	}
	var report measure.Report
	SingleFigures(&report, r)
	for _, name := range []string{"search median", "search p99", "both median", "both p99"} {
		if f, ok := report.Find("single pass, " + name); !ok || f.Value <= 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	p.Queries = []string{"a", "a"}
	if r, err := p.Single(t.Context()); r != nil || err != nil {
		t.Errorf("one query: %v, %v", r, err)
	}
	report = measure.Report{}
	SingleFigures(&report, nil)
	if len(report.Figures) != 0 || len(report.Notes) != 1 {
		t.Errorf("%+v", report)
	}
}
