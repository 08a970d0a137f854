package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
)

// TestReservesAreTheOracles: with reserves at, just above and just below the bids of
// candidates, answers and pages are those of the oracle, with targeting and scorers, on lists
// of many blocks.
func TestReservesAreTheOracles(t *testing.T) {
	models := new(barreltest.Models)
	s := models.InMemory(t, "", 16<<20)
	defer s.Close()
	rapid.Check(t, func(t *rapid.T) {
		w := long(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), 900)
		vary(t, w)
		if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
			t.Fatal(err)
		}
		o, r := barreltest.Judge(t, w, nil), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "request"), 2))
		q := usb(r)
		if rapid.Bool().Draw(t, "scored") {
			q.Scorer = models.Add(t, oracletest.DrawModel(t))
		}
		bids := bidsOf(t, o, q)
		bid := bids[max(0, len(bids)-1-rapid.SampledFrom([]int{0, 0, 1, 5, 300}).Draw(t, "bid"))]
		for _, q.Reserve = range []uint64{bid - 1, bid, bid + 1} {
			if rapid.Bool().Draw(t, "answer") {
				barreltest.SameAnswer(t, s, o, q, nil)
				continue
			}
			list, perAdvertiser := oracletest.DrawPlacements(t)
			list[r.IntN(len(list))].Reserve = q.Reserve
			barreltest.SamePage(t, s, o, q, list, perAdvertiser, nil)
		}
	})
}

// vary gives some campaigns and groups of a world modifiers and targeting, and some keywords
// other qualities and match types.
func vary(t *rapid.T, w *oracletest.World) {
	some := rapid.SampledFrom([]int{1, 10, 1000})
	percents := rapid.SampledFrom([]int{-90, -33, 7, 50, 900})
	for i := 0; i < len(w.Campaigns); i += some.Draw(t, "campaigns") {
		switch percent := percents.Draw(t, "percent"); rapid.IntRange(0, 3).Draw(t, "of") {
		case 0:
			w.Campaigns[i].Schedule = week(percent)
		case 1:
			w.Campaigns[i].Locations = fmt.Sprintf(`[{"id":%d,"modifier_percent":%d},{"id":1}]`, 2+i%4, percent)
		case 2:
			w.Campaigns[i].Modifiers[i%3] = backend.Modifier{Set: true, Permille: uint16(1000 + 10*percent)}
		case 3:
			w.Items[i].Group.Modifiers[i%3] = backend.Modifier{Set: true, Permille: uint16(1000 + 10*percent)}
		}
	}
	for i := 0; i < len(w.Items); i += some.Draw(t, "keywords") {
		k := &w.Items[i].Keywords[0]
		k.Quality, k.Type = rapid.Uint8Range(1, 10).Draw(t, "quality"), search.MatchType(rapid.IntRange(0, search.MatchTypes-1).Draw(t, "type"))
	}
}

// bidsOf returns the bids of a request's candidates, in order.
func bidsOf(t barreltest.TB, o *oracle.Oracle, q oracle.Request) []uint64 {
	t.Helper()
	q.Reserve = 1
	all, err := o.Explain(q)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	bids := []uint64{10_000}
	for _, j := range all {
		if j.Verdict <= search.Superseded { // a candidate
			bids = append(bids, j.Effective)
		}
	}
	slices.Sort(bids)
	return bids
}

// TestReserveAboveAllBids: if no bid reaches the reserve, no block is read; if few bids reach
// it, only their blocks are. This holds for an answer, for a search with a scorer, and for a
// page, not counting what another placement reads.
func TestReserveAboveAllBids(t *testing.T) {
	r, models := rand.New(rand.NewPCG(7, 7)), new(barreltest.Models)
	s, w := models.InMemory(t, "", 16<<20), long(r, 2500)
	defer s.Close()
	for i := range uint64(3) { // all other bids are below 1,000,000
		w.Campaigns[i].Schedule, w.Items[i].Keywords[0].Bid = week(50), 800_000+i
	}
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	model := models.Add(t, []byte(`{"format":1,"bias":-200}`))
	for name, c := range map[string]struct {
		scorer *oracle.Model
		list   []oracle.Placement
	}{
		"answer": {}, "scorer": {scorer: model}, "page": {list: []oracle.Placement{{Slots: 2}, {Slots: 2, Reserve: 10_000}}},
	} {
		t.Run(name, func(t *testing.T) {
			q := usb(r)
			q.Scorer = c.scorer
			read := func(reserve uint64) (blocks uint64) {
				q.Reserve = reserve
				request := barreltest.Request(t, q, nil)
				if c.list != nil {
					c.list[0].Reserve = reserve
					barreltest.Page(request, c.list, 1)
				}
				return readBy(t, s, request)
			}
			// A block with such a campaign may reach 150 % of its largest bid.
			if low, three, none := read(10_000), read(1_200_000), read(1_500_000); c.list == nil && (three > 3 || none > 0) || three > low+3 || none > low {
				t.Errorf("blocks read for a low reserve, one that three bids reach and one that none does: %d, %d and %d", low, three, none)
			}
		})
	}
}

// readBy returns how many blocks a search reads when caches are filled.
func readBy(t *testing.T, s barrels.Store, r *search.Request) uint64 {
	t.Helper()
	var a *search.Answer
	for range 2 {
		var err error
		if a, err = s.Search(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return a.Work.BlocksRead
}
