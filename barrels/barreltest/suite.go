package barreltest

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"adshard/barrels"
	"adshard/internal/oracle/oracletest"
)

// Open opens the store with the given name within a test. The store is empty the first time, and
// keeps its data after it is closed.
type Open func(t testing.TB, name string) barrels.Store

// Run runs the whole suite.
func Run(t *testing.T, open func(t testing.TB) Open) {
	for _, c := range []struct {
		name   string
		clause func(*testing.T, Open)
	}{
		{"answers are the oracle's", answers},
		{"histories are the oracle's", histories},
		{"buckets begin at the position", positions},
		{"a reset empties the store", resets},
		{"an item replaces its group", replacements},
		{"what was applied is kept", kept},
		{"a closed store refuses", closing},
		{"wrong node data are refused", invalid},
		{"wrong requests are refused", requests},
		{"searches end at their deadline", deadlines},
		{"views serve their slices", slicesServed},
		{"held slices are not served", held},
		{"views not told of and views gone by are refused", viewsRefused},
		{"what is cleared is gone", clearing},
		{"what is cleared and brought again is new", clearedAndBrought},
		{"only what is full and served counts", moves},
		{"certificates are the source's", certificates},
		{"certificates hold beside changes", certificatesBeside},
		{"load is counted where it is served", loadCounted},
		{"one search in so many is counted", loadSampled},
		{"a store that is behind says so", behind},
		{"groups need their parents", orphans},
		{"parents hold for all groups", parents},
		{"throttled campaigns take part in their share", throttling},
		{"negatives of an advertiser hold for all of its groups", advertiserNegatives},
		{"equal scores go by keyword id", ties},
		{"parents without groups go", sweeping},
		{"anchors that drifted are mended", drifting},
		{"small blocks are joined", packing},
		{"searches see one state", isolation},
	} {
		t.Run(c.name, func(t *testing.T) { c.clause(t, open(t)) })
	}
}

func apply(t TB, s barrels.Store, b *Builder, all bool) {
	t.Helper()
	if err := s.Apply(context.Background(), b.All()); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

// answers checks, for random worlds, that every answer and explanation is the oracle's.
func answers(t *testing.T, open Open) {
	s := open(t, "answers")
	defer s.Close()
	lex := oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		b := NewBuilder(t, &w)
		apply(t, s, b, true)
		if rapid.Bool().Draw(t, "warm") {
			s.Warm(context.Background())
		}
		o := Judge(t, &w, lex)
		for range 4 {
			r := oracletest.DrawRequest(t, w)
			SameAnswer(t, s, o, r, lex)
			SameExplanation(t, s, o, r, lex)
		}
		SameWanted(t, s, o, oracletest.DrawRequest(t, w), lex, 10)
	})
}

// histories checks the same after random changes, one bucket at a time.
func histories(t *testing.T, open Open) {
	s := open(t, "histories")
	defer s.Close()
	lex := oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		b := NewBuilder(t, &w)
		apply(t, s, b, true)
		for range rapid.IntRange(1, 8).Draw(t, "buckets") {
			changes := w.Mutate(t)
			for range rapid.IntRange(0, 3).Draw(t, "more changes") {
				changes = append(changes, w.Mutate(t)...)
			}
			if err := s.Apply(context.Background(), b.Changes(s.Position(), changes)); err != nil {
				t.Fatalf("apply: %v", err)
			}
			if rapid.IntRange(0, 3).Draw(t, "maintenance") == 0 {
				if err := s.Maintain(context.Background()); err != nil {
					t.Fatalf("maintain: %v", err)
				}
			}
			if rapid.Bool().Draw(t, "warm") {
				s.Warm(context.Background())
			}
			SameStats(t, s, &w)
			SameAnswer(t, s, Judge(t, &w, lex), oracletest.DrawRequest(t, w), lex)
		}
	})
}
