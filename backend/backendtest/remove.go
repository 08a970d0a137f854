package backendtest

import (
	"fmt"
	"testing"

	"adshard/backend"
	"adshard/search"
)

func removeClauses() []clause {
	return []clause{
		{"removing deletes the content too, and the log names all of it", testRemoveAdvertiser},
		{"removing a missing entity does nothing", testRemoveMissing},
		{"an entity named again after its removal is new", testRemoveAgain},
		{"the same within one transaction", testRemoveWithin},
		{"find creates nothing", testFind},
	}
}

func testRemoveAdvertiser(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, func(w writer) {
		for _, c := range []string{"C", "D"} {
			id := w.campaign(w.advertiser("A"), c, backend.CampaignPatch{})
			for _, g := range []string{"G", "H"} {
				w.words(w.group(id, g, backend.GroupPatch{}), "a", "b")
			}
			w.negative(backend.NegativeOwner{Campaign: id}, "free", backend.Keep)
		}
		w.negative(backend.NegativeOwner{Advertiser: 1}, "free", backend.Keep)
		c := w.campaign(w.advertiser("B"), "C", backend.CampaignPatch{})
		w.words(w.group(c, "G", backend.GroupPatch{}), "kept")
	})
	clock := clockOf(t, s)
	writes(t, s, func(w writer) {
		w.words(1, "still unwritten") // still in the transaction's buffer
		w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{Status: backend.Remove}))
	})
	changes, err := s.Changes(t.Context(), at(clock), 1000)
	check(t, err)
	seen := map[string]int{}
	for i, c := range changes {
		if c.Removed {
			seen[fmt.Sprintf("%d%d %d%d", c.Kind, c.ID, c.AdvertiserID, c.CampaignID)] = i
		}
	}
	want := []string{"31 11", "32 11", "33 12", "34 12", "21 10", "22 10", "11 00"}
	for _, k := range want {
		if _, ok := seen[k]; !ok || len(seen) != len(want) {
			t.Fatalf("kind, id, advertiser, campaign %s is missing in %v", k, changes)
		}
	}
	if seen["31 11"] > seen["21 10"] || seen["34 12"] > seen["22 10"] || seen["22 10"] > seen["11 00"] {
		t.Errorf("an owner is logged before its content: %v", changes)
	}
	n, err := s.Counts(t.Context())
	if want := (backend.Counts{Advertisers: 1, Campaigns: 1, Groups: 1, Keywords: 1}); err != nil || n != want {
		t.Errorf("%+v, %v", n, err)
	}
}

func testRemoveMissing(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	before, clock := ReadNow(t, s), clockOf(t, s)
	writes(t, s, func(w writer) {
		w.must(w.UpdateAdvertiser(w.ctx, 99, backend.AdvertiserPatch{Status: backend.Remove}))
		w.must(w.UpdateAdvertiser(w.ctx, 99, backend.AdvertiserPatch{Status: backend.Pause}))
		if id := w.campaign(1, "none", backend.CampaignPatch{Status: backend.Remove}); id != 0 {
			t.Errorf("removed campaign %d", id)
		}
		if id := w.group(1, "none", backend.GroupPatch{Status: backend.Remove}); id != 0 {
			t.Errorf("removed group %d", id)
		}
		w.keyword(1, backend.KeywordPatch{Text: "none", Words: "none", Status: backend.Remove})
		w.negative(backend.NegativeOwner{Group: 1}, "none", backend.Remove)
		w.negative(backend.NegativeOwner{Advertiser: 1}, "none", backend.Remove)
		w.ad(1, "none", backend.Remove)
	})
	if d := Differ(ReadNow(t, s), before); d != "" || clockOf(t, s) != clock {
		t.Errorf("the clock went from %d to %d\n%s", clock, clockOf(t, s), d)
	}
}

// removeEach removes everything in the sample, children first.
func removeEach(w writer) {
	w.keyword(1, backend.KeywordPatch{Text: "hdmi", Words: "hdmi", Type: search.Broad, Status: backend.Remove})
	w.negative(backend.NegativeOwner{Campaign: 1}, "free", backend.Remove)
	w.negative(backend.NegativeOwner{Group: 1}, "used", backend.Remove)
	w.ad(1, "Cables", backend.Remove)
	w.group(1, "G", backend.GroupPatch{Status: backend.Remove})
	w.campaign(1, "C", backend.CampaignPatch{Status: backend.Remove})
	w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{Status: backend.Remove}))
}

func testRemoveAgain(t *testing.T, f Factory) {
	p := f(t)
	s := p.Open(t, Patience)
	writes(t, s, sample)
	writes(t, s, func(w writer) {
		removeEach(w)
	})
	closing(t, s)
	s = openAt(t, p)
	if n, err := s.Counts(t.Context()); err != nil || n != (backend.Counts{}) {
		t.Errorf("%+v, %v", n, err)
	}
	writes(t, s, func(w writer) {
		c, g := w.path("G")
		w.words(g, "hdmi")
		w.negative(backend.NegativeOwner{Campaign: c}, "free", backend.Keep)
		w.ad(g, "Cables", backend.Keep)
	})
	checkNewIDs(t, ReadNow(t, s))
}

func testRemoveWithin(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, func(w writer) {
		sample(w)
		removeEach(w)
		c, g := w.path("G")
		w.words(g, "hdmi")
		w.negative(backend.NegativeOwner{Campaign: c}, "free", backend.Keep)
		w.ad(g, "Cables", backend.Keep)
	})
	checkNewIDs(t, ReadNow(t, s))
}

func checkNewIDs(t *testing.T, n State) {
	t.Helper()
	if len(n.Advertisers) != 1 || n.Advertisers[2].ID != 2 || len(n.Campaigns) != 1 || n.Campaigns[2].ID != 2 || len(n.Items) != 1 {
		t.Fatalf("%+v", n)
	}
	it, c := n.Items[2], n.Campaigns[2]
	if it.Keywords[0].ID != 4 || it.Ads[0].ID != 2 || c.Negatives[0].ID != 4 || len(n.Advertisers[2].Negatives) > 0 {
		t.Errorf("keyword %d, ad %d, negative %d; want 4, 2, 4", it.Keywords[0].ID, it.Ads[0].ID, c.Negatives[0].ID)
	}
}

func testFind(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, func(w writer) {
		for _, found := range []bool{false, true} {
			a, err := w.FindAdvertiser(w.ctx, "A")
			w.must(err)
			c, err := w.FindCampaign(w.ctx, 1, "C")
			w.must(err)
			g, err := w.FindGroup(w.ctx, 1, "G")
			w.must(err)
			if want := map[bool]uint64{true: 1}[found]; a != want || c != want || g != want {
				t.Errorf("found %d %d %d, want %d", a, c, g, want)
			}
			if !found {
				w.path("G")
			}
		}
	})
	if n, _ := s.Counts(t.Context()); n != (backend.Counts{Advertisers: 1, Campaigns: 1, Groups: 1}) {
		t.Errorf("%+v", n)
	}
}
