package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/memory"
	"adshard/fault"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/scorer"
	"adshard/search"
)

// TestScorersAreTheOracles: with any model, ads, prices, counts and explanations are those of
// the oracle, with exact counts and with an early stop, in single answers and on pages. What
// one model leaves in caches and buffers changes no answer with another model or without one.
func TestScorersAreTheOracles(t *testing.T) {
	models, lex := new(barreltest.Models), oracletest.Lexicon()
	s := models.InMemory(t, "", 1<<20)
	defer s.Close()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		targeted := rapid.Bool().Draw(t, "targeted")
		if targeted {
			oracletest.Target(t, &w)
		}
		if rapid.Bool().Draw(t, "crowded") {
			oracletest.Crowd(t, &w, "usb")
		}
		filled(t, s, &w)
		o := barreltest.Judge(t, &w, lex)
		for range 4 {
			r := oracletest.DrawRequest(t, w)
			if rapid.Bool().Draw(t, "the crowd's") {
				r.Text = "usb"
			}
			if r.Context = oracletest.DrawContext(t); !targeted {
				r.Context = &oracle.Context{Time: r.Context.Time, Host: r.Context.Host}
			}
			if rapid.IntRange(0, 7).Draw(t, "scored") > 0 {
				r.Scorer = models.Add(t, oracletest.DrawModel(t))
			}
			barreltest.SameAnswer(t, s, o, r, lex)
			list, perAdvertiser := oracletest.DrawPlacements(t)
			barreltest.SamePage(t, s, o, r, list, perAdvertiser, lex)
			switch {
			case !targeted:
				barreltest.SameExplanation(t, s, o, r, lex)
			case r.Variants < search.Synonym:
				barreltest.SameVerdicts(t, s, o, r)
			}
		}
	})
}

// TestScorersStopEarly: with a scorer, searches in lists of many blocks answer as the oracle
// does, and skip blocks if many candidates have the highest factor.
func TestScorersStopEarly(t *testing.T) {
	r, models := rand.New(rand.NewPCG(4, 4)), new(barreltest.Models)
	s, w := models.InMemory(t, "", 16<<20), long(r, 1200)
	defer s.Close()
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	o := barreltest.Judge(t, w, nil)
	for _, c := range []struct {
		model string
		skips bool
	}{
		{`{"format":1,"bias":-200}`, true},
		{`{"format":1,"trees":[{"splits":[["advertiser",700],["advertiser",300]],"leaves":[-90,0,40,70]}]}`, true},
		{`{"format":1,"weights":{"campaign":{"17":256,"800":-3000,"1001":100}}}`, false},
		{`{"format":1,"bias":-3000}`, false},                                    // no keyword is a candidate
		{`{"format":1,"bias":-3000,"weights":{"campaign":{"17":3256}}}`, false}, // one keyword is
	} {
		skipped := uint64(0)
		for range 4 {
			q := usb(r)
			q.Scorer = models.Add(t, []byte(c.model))
			barreltest.SameAnswer(t, s, o, q, nil)
			a, err := s.Search(context.Background(), barreltest.Request(t, q, nil))
			if err != nil {
				t.Fatal(err)
			}
			skipped += a.Work.BlocksSkipped
		}
		if c.skips && skipped == 0 {
			t.Errorf("%s: no block was skipped", c.model)
		}
	}
}

// TestScorerThatIsNotHere: a request is refused if it names a model that the store lacks, or
// has no context.
func TestScorerThatIsNotHere(t *testing.T) {
	models := new(barreltest.Models)
	here := models.Add(t, []byte(`{"format":1}`))
	s := models.InMemory(t, "", 0)
	defer s.Close()
	q := usb(rand.New(rand.NewPCG(5, 5)))
	q.Scorer = here
	with := barreltest.Request(t, q, nil)
	if _, err := s.Search(t.Context(), with); err != nil {
		t.Error(err)
	}
	without, other, none := *with, *with, opened(t)
	without.Context = nil
	other.Scorer = oracle.ReadModel([]byte(`{"format":1,"bias":1}`)).ID
	for name, refused := range map[string]func() (*search.Answer, error){
		"no context":   func() (*search.Answer, error) { return s.Search(t.Context(), &without) },
		"another":      func() (*search.Answer, error) { return s.Search(t.Context(), &other) },
		"has no model": func() (*search.Answer, error) { return none.Search(t.Context(), with) },
	} {
		if _, err := refused(); !fault.Is(err, fault.Version) {
			t.Errorf("%s: %v, want Version", name, err)
		}
	}
	if _, err := s.Explain(t.Context(), &other, 10); !fault.Is(err, fault.Version) {
		t.Errorf("explain: %v, want Version", err)
	}
}

// BenchmarkScorer searches a list of 20,000 keywords without a model, and with models of more
// and more trees. scored/op is the number of candidates that a search scores.
func BenchmarkScorer(b *testing.B) {
	r := rand.New(rand.NewPCG(6, 6))
	w := long(r, 20_000)
	models := map[search.ScorerID]*counted{}
	s, err := barrels.Open(memory.NewDB(), barrels.Options{CacheBytes: 64 << 20, Scorers: func(id search.ScorerID) auction.Scorer { return models[id] }})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.Apply(b.Context(), barreltest.NewBuilder(b, w).All()); err != nil {
		b.Fatal(err)
	}
	q := barreltest.Request(b, usb(r), nil)
	q.Slots = 4
	for _, trees := range []int{-1, 0, 50, 500, 2500} {
		q.Scorer = search.ScorerID{}
		n := new(uint64)
		if trees >= 0 {
			m, err := scorer.Parse(oracle.LargeModel(trees))
			if err != nil {
				b.Fatal(err)
			}
			c := &counted{Scorer: m}
			q.Scorer, models[m.ID()], n = m.ID(), c, &c.n
		}
		for _, exact := range []bool{false, true} {
			q.ExactCounts = exact
			b.Run(fmt.Sprintf("%d trees, exact %v", trees, exact), func(b *testing.B) {
				*n = 0
				for b.Loop() {
					if _, err := s.Search(b.Context(), q); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(*n)/float64(b.N), "scored/op")
			})
		}
	}
}

// counted counts the candidates that a scorer is asked to score.
type counted struct {
	auction.Scorer
	n uint64
}

func (c *counted) For(s *auction.Situation) auction.Scoring {
	return &countedScoring{c.Scorer.For(s), &c.n}
}

type countedScoring struct {
	auction.Scoring
	n *uint64
}

func (c *countedScoring) Factor(f *auction.Features) uint64 {
	*c.n++
	return c.Scoring.Factor(f)
}
