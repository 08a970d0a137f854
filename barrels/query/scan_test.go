package query_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/memory"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
	"adshard/search"
)

// filled puts a world into an empty store group by group in a random order, so
// that any word of a keyword may be its anchor.
func filled(t *rapid.T, s barrels.Store, w *oracletest.World) {
	d := barreltest.NewBuilder(t, w).All()
	items := rapid.Permutation(d.Items).Draw(t, "order")
	at := d.To
	d.Items, d.To = nil, &pb.Position{Epoch: 1}
	for {
		if err := s.Apply(context.Background(), d); err != nil {
			t.Fatal(err)
		}
		if len(items) == 0 {
			return
		}
		d = &pb.NodeData{From: s.Position(), To: at, Items: items[:1]}
		if items = items[1:]; len(items) > 0 {
			d.To = s.Position()
			d.To.Quantum++
		}
	}
}

func opened(t *testing.T) barrels.Store {
	t.Helper()
	return openedWith(t, 1<<20)
}

// openedWith opens an empty store with a cache of the given number of bytes.
func openedWith(t *testing.T, bytes uint64) barrels.Store {
	t.Helper()
	s, err := barrels.Open(memory.NewDB(), barrels.Options{CacheBytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestScanFindsWhatTheOracleFinds: a scan finds the same keywords at the same
// levels as the oracle, for any anchors, all variant levels, both profiles and
// any other.
func TestScanFindsWhatTheOracleFinds(t *testing.T) {
	s, lex := opened(t), oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		filled(t, s, &w)
		o := barreltest.Judge(t, &w, lex)
		for range 8 {
			r := oracletest.DrawRequest(t, w)
			if rapid.Bool().Draw(t, "any profile") {
				r.Profile = oracletest.DrawProfile(t)
			}
			barreltest.SameAnswer(t, s, o, r, lex)
			barreltest.SameExplanation(t, s, o, r, lex)
		}
	})
}

// dense makes nearly everything in a world a candidate, with many advertisers and
// with scores so close that the level decides.
func dense(t *rapid.T, w oracletest.World) oracletest.World {
	for _, a := range w.Advertisers {
		a.Enabled = true
	}
	for _, c := range w.Campaigns {
		c.Enabled, c.BudgetExhausted, c.Negatives, c.Modifiers = true, false, nil, [search.Devices]backend.Modifier{}
	}
	for _, it := range w.Items {
		it.Group.Enabled, it.Group.Modifiers, it.Negatives = true, [search.Devices]backend.Modifier{}, nil
		it.Ads = []backend.Ad{{ID: it.Group.ID, Enabled: true, Headlines: []string{"x"}}}
		for i := range it.Keywords {
			k := &it.Keywords[i]
			k.Enabled, k.HasBid, k.Quality, k.Type = true, true, 5, search.Broad
			k.Bid = 1_000_000 + 10_000*rapid.Uint64Range(0, 30).Draw(t, "bid")
		}
	}
	return w
}

// TestSkippingChangesNoWinner: a search that skips blocks by their bounds has
// exactly the hits that the oracle ranks first, including keywords of several
// languages.
func TestSkippingChangesNoWinner(t *testing.T) {
	s, lex, skipped := opened(t), oracletest.Lexicon(), uint64(0)
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		if rapid.Bool().Draw(t, "dense") {
			w = dense(t, w)
		}
		filled(t, s, &w)
		o := barreltest.Judge(t, &w, lex)
		for range 8 {
			r := oracletest.DrawRequest(t, w)
			r.Slots = rapid.IntRange(1, 3).Draw(t, "slots") // few, so that much is skipped
			barreltest.SameAnswer(t, s, o, r, lex)
			skipped += work(t, s, r).BlocksSkipped
		}
	})
	t.Logf("%d blocks skipped", skipped)
	if skipped == 0 && !testing.Short() { // with few cases, none may be skipped
		t.Fatal("no block was ever skipped: the test shows nothing")
	}
}

// TestQueryOfNoWord: a query without words has no hits and costs nothing.
func TestQueryOfNoWord(t *testing.T) {
	q, err := search.Expand(" … ", search.Synonym, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := opened(t).Search(t.Context(), &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4})
	if err != nil || len(a.Hits) > 0 || a.Work != (search.Work{}) {
		t.Fatalf("%+v, %v", a, err)
	}
}

func work(t *rapid.T, s barrels.Store, r oracle.Request) search.Work {
	a, err := s.Search(context.Background(), barreltest.Request(t, r, oracletest.Lexicon()))
	if err != nil {
		t.Fatal(err)
	}
	return a.Work
}
