package barrels_test

import (
	"context"
	"testing"

	"adshard/barrels/memory"
	"adshard/search"
)

// TestLearnedQualityIsKept: a store explains what a quality was learned from, even after it was
// opened again; other keywords have no learned quality.
func TestLearnedQualityIsKept(t *testing.T) {
	db := memory.NewDB()
	s := open(t, db)
	d := quarters(t)
	k := d.Items[0].Keywords[0]
	k.Quality, k.Given, k.Learned = 9, 5, 1<<40|9
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		q, err := search.Expand(k.Text, search.Synonym, nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Explain(context.Background(), &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4}, 1000)
		if err != nil || len(e.Matches) < 2 {
			t.Fatalf("%+v, %v", e, err)
		}
		for _, m := range e.Matches {
			if learned := m.Keyword == k.Id; (m.Learned == k.Learned && m.Points == 9 && m.Given == 5) != learned || !learned && (m.Learned != 0 || m.Given != 0) {
				t.Errorf("keyword %d: quality %d, given %d, learned %d", m.Keyword, m.Points, m.Given, m.Learned)
			}
		}
		closed(t, s)
		s = open(t, db)
	}
	closed(t, s)
}
