package search_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"adshard/backend"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
	"adshard/search/words"
	"pgregory.net/rapid"
)

// world draws a world with its oracle and its naive store.
func world(t *rapid.T) (oracletest.World, *oracle.Oracle, *naive) {
	return index(t, oracletest.Draw(t))
}

func index(t *rapid.T, w oracletest.World) (oracletest.World, *oracle.Oracle, *naive) {
	o, err := oracle.New(w.Advertisers, w.Campaigns, w.Items, oracletest.Lexicon())
	if err != nil {
		t.Fatal(err)
	}
	return w, o, drawNaive(t, &w)
}

// drawRequest draws a request with the profiles that ship or with any.
func drawRequest(t *rapid.T, w oracletest.World) oracle.Request {
	r := oracletest.DrawRequest(t, w)
	if rapid.Bool().Draw(t, "any profile") {
		r.Profile = oracletest.DrawProfile(t)
	}
	return r
}

func expand(t *rapid.T, r *oracle.Request) (*search.Query, search.Profile) {
	q, err := search.Expand(r.Text, r.Variants, oracletest.Lexicon())
	if err != nil {
		t.Fatal(err)
	}
	return q, r.Profile.Capped(r.Variants)
}

// TestScanFindsWhatTheOracleFinds: the same keywords at the same levels, for
// any anchors and blocks, all variant levels, both profiles and any other.
func TestScanFindsWhatTheOracleFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, o, store := world(t)
		for range 16 {
			r := drawRequest(t, w)
			q, p := expand(t, &r)
			got, want := levels{}, levels{}
			if _, err := search.Scan(t.Context(), q, p, store, got); err != nil {
				t.Fatal(err)
			}
			judged, err := o.Explain(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range judged {
				want[j.Keyword.ID] = j.Level
			}
			if !maps.Equal(got, want) {
				t.Fatalf("%q, profile %+v: got %v, want %v", r.Text, p, got, want)
			}
		}
	})
}

// dense makes nearly everything in a world a candidate, with scores so close
// that the level decides, and many advertisers.
func dense(t *rapid.T, w oracletest.World) oracletest.World {
	for _, a := range w.Advertisers {
		a.Enabled = true
	}
	for _, c := range w.Campaigns {
		c.Enabled, c.BudgetExhausted, c.Negatives, c.Modifiers = true, false, nil, [search.Devices]backend.Modifier{}
	}
	for _, it := range w.Items {
		it.Group.Enabled, it.Group.Modifiers, it.Negatives = true, [search.Devices]backend.Modifier{}, nil
		it.Ads = []backend.Ad{{ID: it.Group.ID, Enabled: true}}
		for i := range it.Keywords {
			k := &it.Keywords[i]
			k.Enabled, k.HasBid, k.Quality, k.Type = true, true, 5, search.Broad
			k.Bid = 1_000_000 + 10_000*rapid.Uint64Range(0, 30).Draw(t, "bid")
		}
	}
	return w
}

// TestPassingOverChangesNoWinner: a sink that passes over blocks by their
// bounds keeps the very hits that the oracle puts first, keywords of several
// languages included.
func TestPassingOverChangesNoWinner(t *testing.T) {
	passed := uint64(0)
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		if rapid.Bool().Draw(t, "dense") {
			w = dense(t, w)
		}
		w, o, store := index(t, w)
		for range 12 {
			r := drawRequest(t, w)
			r.Slots = rapid.IntRange(1, 3).Draw(t, "slots") // few, so that much is passed over
			q, p := expand(t, &r)
			judged, err := o.Explain(r)
			if err != nil {
				t.Fatal(err)
			}
			sink := &best{device: r.Device, eligible: map[uint64]bool{}}
			sink.Reset(r.Slots + 1)
			var want []search.Ranked[search.Level]
			for _, j := range judged { // in order already
				switch j.Verdict {
				case search.Won, search.Lost:
					if len(want) <= r.Slots {
						want = append(want, search.Ranked[search.Level]{Owner: j.Advertiser.ID, Score: j.Score, Keyword: j.Keyword.ID, Value: j.Level})
					}
					fallthrough
				case search.Superseded:
					sink.eligible[j.Keyword.ID] = true
				}
			}
			work, err := search.Scan(t.Context(), q, p, store, sink)
			if err != nil {
				t.Fatal(err)
			}
			passed += work.BlocksPassed
			if !slices.Equal(sink.Ranked(), want) {
				t.Fatalf("%q: got %+v, want %+v", r.Text, sink.Ranked(), want)
			}
		}
	})
	t.Logf("%d blocks passed over", passed)
	if passed == 0 && !testing.Short() { // few cases may have none
		t.Fatal("no block was ever passed over: the test shows nothing")
	}
}

// panics is a sink to which the first match is damage.
type panics struct {
	levels
	done bool
}

func (p *panics) Match(list []search.Candidate) {
	if !p.done {
		p.done = true
		panic("damaged")
	}
	p.levels.Match(list)
}

// reused hands over two blocks at one address, as a reader does that opens one
// view again and again, and takes what panics for damage.
type reused struct{ *naive }

func (r reused) Blocks(ctx context.Context, terms []int32, _ search.Level, visit search.Visit) error {
	var at block
	for _, i := range terms {
		for _, b := range r.blocks[r.terms[i].Term] {
			at = *b
			func() {
				defer func() { _ = recover() }()
				visit(&at, false)
			}()
		}
	}
	return nil
}

// TestDamageHarmsNoOther: after a block that panics the next one is held against
// the query by its own words, wherever it lies.
func TestDamageHarmsNoOther(t *testing.T) {
	usb, cable := wordOf("usb"), wordOf("cable")
	like := word{norm: 1, fold: 1, term: cable.term ^ 1} // with cable's signature
	one := func(id uint64, vocabulary ...word) *block {
		return &block{vocabulary: vocabulary, postings: []posting{{
			keyword: &backend.Keyword{ID: id}, words: []byte{0, 0, 1, 0},
		}}}
	}
	n := &naive{blocks: map[uint64][]*block{usb.term: {one(1, usb, cable), one(3, usb, like), one(5, usb, cable)}}}
	q, err := search.Expand("usb cable", search.Identical, nil)
	if err != nil {
		t.Fatal(err)
	}
	sink := &panics{levels: levels{}}
	if _, err := search.Scan(t.Context(), q, search.DefaultProfile(), reused{n}, sink); err != nil {
		t.Fatal(err)
	}
	if _, found := sink.levels[5]; !sink.done || !found || len(sink.levels) != 1 {
		t.Fatalf("after the damage %v were found", sink.levels)
	}
}

func wordOf(text string) word {
	return word{words.Hash(text), words.Hash(text), words.TermOf("en", text)}
}
