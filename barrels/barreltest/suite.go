package barreltest

import (
	"context"
	"testing"

	"adshard/barrels"
	"adshard/internal/oracle/oracletest"

	"pgregory.net/rapid"
)

// Open opens the store kept under a name within a test, empty the first time.
// A store that was closed is found as it was.
type Open func(t testing.TB, name string) barrels.Store

// Run runs the whole suite.
func Run(t *testing.T, open func(t testing.TB) Open) {
	t.Run("answers are the oracle's", func(t *testing.T) { answers(t, open(t)) })
	t.Run("histories are the oracle's", func(t *testing.T) { histories(t, open(t)) })
}

func apply(t TB, s barrels.Store, b *Builder, all bool) {
	t.Helper()
	if err := s.Apply(context.Background(), b.All()); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

// answers: for random worlds every answer and explanation is the oracle's.
func answers(t *testing.T, open Open) {
	s := open(t, "answers")
	defer s.Close()
	lex := oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		b := NewBuilder(t, &w)
		apply(t, s, b, true)
		o := Judge(t, &w, lex)
		for range 4 {
			r := oracletest.DrawRequest(t, w)
			SameAnswer(t, s, o, r, lex)
			SameExplanation(t, s, o, r, lex)
		}
	})
}

// histories: after random changes, one bucket at a time, the same.
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
			SameStats(t, s, &w)
			SameAnswer(t, s, Judge(t, &w, lex), oracletest.DrawRequest(t, w), lex)
		}
	})
}
