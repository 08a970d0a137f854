package memory_test

import (
	"testing"

	"pgregory.net/rapid"

	"adshard/barrels/barreltest"
	"adshard/internal/oracle/oracletest"
	"adshard/search/words"
)

// TestLanguages: whatever the set of languages, a store whose data are built for it gives the oracle's answers to queries that are
// expanded for it.
func TestLanguages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var languages words.Languages
		if err := languages.UnmarshalText([]byte(rapid.SampledFrom([]string{"de", "en,de", "cs,de,en", "cs,en", "cs"}).Draw(t, "languages"))); err != nil {
			t.Fatal(err)
		}
		w := oracletest.Draw(t)
		w.Languages = languages
		s := barreltest.InMemory(t, "")
		defer s.Close()
		if err := s.Apply(t.Context(), barreltest.NewBuilder(t, &w).All()); err != nil {
			t.Fatal(err)
		}
		s.SetCaughtUp(true)
		lex := oracletest.Lexicon()
		o := barreltest.Judge(t, &w, lex)
		for range 4 {
			barreltest.SameAnswer(t, s, o, oracletest.DrawRequest(t, w), lex)
		}
	})
}
