package e2e

import (
	"context"
	"testing"

	"adshard/auction"
	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/backend/sqlite"
	"adshard/balance"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/internal/goldentest"
	"adshard/internal/oracle"
	"adshard/schema/pb"
	"adshard/search"
)

// reserve is the default of serving.md §4, in micros.
const reserve = 10_000

// everything is the content of a database.
type everything struct {
	advertisers []*backend.Advertiser
	campaigns   []*backend.Campaign
	items       []*backend.Item
}

func readAll(t *testing.T, db string) everything {
	t.Helper()
	store, err := sqlite.Open(t.Context(), db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	snapshot, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	var all everything
	if all.advertisers, err = snapshot.Advertisers(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if all.campaigns, err = snapshot.Campaigns(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for it, err := range snapshot.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all.items = append(all.items, it)
	}
	return all
}

// TestOracleIsGolden compares the slow oracle and one store in memory with the golden answers, so that whatever gives
// the same answers as one of them is right too.
func TestOracleIsGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the oracle looks at every keyword for every query")
	}
	file := importEditor(t, goldentest.Read(t, "editor.csv.gz"), 45003)
	wants := readWants(t, "want-mobile.jsonl")
	for i := range wants {
		wants[i].Device, wants[i].Variants, wants[i].Slots, wants[i].Profile = "mobile", "folded", 4, "default"
	}
	t.Run("catalogue", func(t *testing.T) { hold(t, readAll(t, file), wants) })
	file = importEditor(t, goldentest.Read(t, "edges/editor.csv"), 0)
	wants = readWants(t, "edges/want.jsonl")
	t.Run("edges", func(t *testing.T) { hold(t, readAll(t, file), wants) })
}

func hold(t *testing.T, all everything, wants []want) {
	slow, err := oracle.New(all.advertisers, all.campaigns, all.items, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := fill(t, all)
	for i, w := range wants {
		for name, ask := range map[string]func(*testing.T, want) answer{
			"oracle": func(t *testing.T, w want) answer { return askOracle(t, slow, w) },
			"store":  func(t *testing.T, w want) answer { return askStore(t, store, w) },
		} {
			if diff := difference(w, ask(t, w), true); diff != "" {
				t.Errorf("%s, line %d %q: %s", name, i+1, w.Query, diff)
			}
		}
	}
}

// fill puts everything into one store in memory.
func fill(t *testing.T, all everything) barrels.Store {
	t.Helper()
	return filled(t, records(t, all, balance.ByOwner), "")
}

// filled returns a store in memory that holds some data; it is closed at the end of the test.
func filled(t *testing.T, data *pb.NodeData, name string) barrels.Store {
	t.Helper()
	store := barreltest.InMemory(t, name)
	t.Cleanup(func() { store.Close() })
	if err := store.Apply(context.Background(), data); err != nil {
		t.Fatal(err)
	}
	return store
}

// records returns all data as sent to a slave that serves the whole ring.
func records(t *testing.T, all everything, order balance.Order) *pb.NodeData {
	t.Helper()
	builder := nodedata.New(order)
	campaigns := make(map[uint64]*backend.Campaign)
	data := &pb.NodeData{From: &pb.Position{}, To: &pb.Position{Epoch: 1, Clock: 1, Quantum: 1}, Slices: &pb.SliceTable{
		View: 1, Slices: []*pb.HeldSlice{{Id: 1, Hi: ^uint64(0), From: 1}},
	}}
	for _, a := range all.advertisers {
		record, err := builder.Advertiser(a)
		if err != nil {
			t.Fatal(err)
		}
		data.Advertisers = append(data.Advertisers, record)
	}
	for _, c := range all.campaigns {
		campaigns[c.ID] = c
		record, err := builder.Campaign(c)
		if err != nil {
			t.Fatal(err)
		}
		data.Campaigns = append(data.Campaigns, record)
	}
	for _, it := range all.items {
		record, err := builder.Item(it, campaigns[it.Group.CampaignID])
		if err != nil {
			t.Fatal(err)
		}
		data.Items = append(data.Items, record)
	}
	return data
}

func profileOf(w want) search.Profile {
	if w.Profile == "sklik" {
		return search.SklikProfile()
	}
	return search.DefaultProfile()
}

func askOracle(t *testing.T, o *oracle.Oracle, w want) answer {
	device, _ := search.ParseDevice(w.Device)
	variants, _ := search.ParseLevel(w.Variants)
	r, err := o.Search(oracle.Request{
		Text: w.Query, Profile: profileOf(w), Device: device, Slots: w.Slots, Variants: variants, Reserve: reserve,
	})
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Matched: r.Matched, Candidates: r.Candidates}
	a.Coverage.Complete, a.Coverage.PricesExact = true, true
	for _, p := range r.Ads {
		a.Ads = append(a.Ads, ad{Position: p.Position, wantAd: wantAd{
			Advertiser: p.Advertiser.Name, Campaign: p.Campaign.Name, Group: p.Item.Group.Name, Keyword: p.Keyword.Text,
			MatchType: p.Keyword.Type.String(), Variant: p.Level.String(), Price: p.Price,
		}})
	}
	return a
}

func askStore(t *testing.T, s barrels.Store, w want) answer {
	device, _ := search.ParseDevice(w.Device)
	variants, _ := search.ParseLevel(w.Variants)
	q, err := search.Expand(w.Query, variants, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Search(t.Context(), &search.Request{
		Query: q, Profile: profileOf(w).Capped(variants), Device: device, Slots: w.Slots, Reserve: reserve, ExactCounts: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Matched: got.Matched, Candidates: got.Candidates}
	a.Coverage.Complete, a.Coverage.PricesExact = got.Width == search.WholeRing(), true
	var list []auction.Candidate
	for _, h := range got.Hits {
		list = append(list, auction.Candidate{Keyword: h.Keyword, Advertiser: h.Advertiser, Score: h.Score, Quality: h.Quality})
	}
	for _, p := range auction.Finish(list, w.Slots, reserve) {
		h := got.Hits[p.Index]
		c, err := h.Display.Content()
		if err != nil {
			t.Fatal(err)
		}
		a.Ads = append(a.Ads, ad{Position: p.Position, wantAd: wantAd{
			Advertiser: c.Advertiser, Campaign: c.Campaign, Group: c.Group, Keyword: c.Keyword,
			MatchType: h.Type.String(), Variant: h.Level.String(), Price: p.Price,
		}})
	}
	return a
}
