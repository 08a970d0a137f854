package paired

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"adshard/bench/layouts"
)

// asked lists the texts that a fake's stores were asked, in order.
type asked struct {
	mu    sync.Mutex
	texts []string // under mu
}

func (a *asked) add(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.texts = append(a.texts, text)
}

// recorder records what a fake's stores are asked.
type recorder struct {
	fake
	asked *asked
}

func (l *recorder) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	s, err := l.fake.Build(ctx, set, o)
	return &recordingStore{s, l.asked}, err
}

type recordingStore struct {
	layouts.Store
	asked *asked
}

func (s *recordingStore) Searcher() (layouts.Searcher, error) {
	inner, err := s.Store.Searcher()
	return &recordingSearcher{inner, s.asked}, err
}

type recordingSearcher struct {
	layouts.Searcher
	asked *asked
}

func (s *recordingSearcher) Search(ctx context.Context, q *layouts.Query) (layouts.Found, error) {
	s.asked.add(q.Text)
	return s.Searcher.Search(ctx, q)
}

// TestOnce checks that the queries that the single pass measures were never
// asked before, not even for checking, and that none of them is asked twice.
func TestOnce(t *testing.T) {
	var asked asked
	p := smallPlan(t, &recorder{fake{name: "a", provides: providesAll}, &asked}, &fake{name: Floor, provides: providesAll})
	p.Once = true
	again := smallSetup("one", 60) // its first 40 queries are those of the first setup
	again.Name = "again"
	p.Setups = []layouts.Setup{smallSetup("one", 40), again, smallSetup("few", 7)}
	p.Setups[0].Queries = append(p.Setups[0].Queries, p.Setups[0].Queries[:5]...)
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range r.Rows {
		if row.Once {
			names = append(names, row.Name+" "+row.Setup)
			if want := map[string]int{"one, once": 20, "again, once": 10}[row.Setup]; row.Queries != want || row.Asked != float64(want) || row.P99 <= 0 {
				t.Errorf("row %+v, want %d queries", row, want)
			}
			if row.Name == "a" && row.Ratios[Floor].Median <= 0 {
				t.Errorf("no ratio to the floor: %+v", row)
			}
		}
	}
	if want := []string{"a one, once", "floor one, once", "a again, once", "floor again, once"}; !slices.Equal(names, want) {
		t.Errorf("rows %v, want %v", names, want)
	}
	texts, seen := asked.texts, make(map[string]bool)
	for i, text := range texts[:60] { // 40 of the first setup, 20 of the second
		if seen[text] {
			t.Errorf("query %d, %q, was asked before", i, text)
		}
		seen[text] = true
	}
	if len(r.builds()) != 1 || strings.Contains(r.spaces()[0].Title, "once") {
		t.Errorf("what was built: %v", r.spaces()[0].Title)
	}
	p.Threads, texts = 2, nil
	if r, err = Run(context.Background(), p); err != nil || slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Once }) {
		t.Errorf("with two threads: %v", err)
	}
}

// TestOnceChecks checks that a wrong answer in the single pass ends the run.
func TestOnceChecks(t *testing.T) {
	p := smallPlan(t, &fake{name: "a", provides: providesAll, lies: func(asked int, f *layouts.Found) {
		if asked == 15 { // the fifth of the second half
			f.Matches++
		}
	}})
	p.Once = true
	if _, err := Run(context.Background(), p); err == nil || !strings.Contains(err.Error(), "setup one") {
		t.Errorf("a lie: %v", err)
	}
}
