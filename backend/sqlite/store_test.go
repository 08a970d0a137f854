package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/search"
)

func open(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSmall(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	run := func() {
		tx, err := s.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		a, err := tx.Advertiser(ctx, "Shop")
		if err != nil {
			t.Fatal(err)
		}
		c, err := tx.Campaign(ctx, a, "C", backend.CampaignPatch{Languages: backend.To([]string{"en", "cs"})})
		if err != nil {
			t.Fatal(err)
		}
		g, err := tx.Group(ctx, c, "G", backend.GroupPatch{Bid: backend.To[uint64](1_000_000)})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []string{"usb cable", "hdmi", "audio"} {
			if err := tx.Keyword(ctx, g, backend.KeywordPatch{Text: w, Words: w, Type: search.Broad}); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Ad(ctx, g, backend.AdPatch{Headlines: []string{"a", `b"x`}}); err != nil {
			t.Fatal(err)
		}
		if err := tx.Negative(ctx, backend.NegativeOwner{Campaign: c}, backend.NegativePatch{Text: "free", Words: "free"}); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	run()
	first, err := s.Clock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	run()
	again, _ := s.Clock(ctx)
	if first != again {
		t.Errorf("the clock moved from %d to %d", first, again)
	}
	ch, err := s.Changes(ctx, 0, 100)
	t.Log(ch, err)
	n, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for it, err := range n.All(ctx) {
		t.Logf("%+v %v", it, err)
	}
	for g, err := range n.Groups(ctx) {
		t.Logf("%+v %v", g, err)
	}
	items, err := n.Items(ctx, []uint64{5, 1})
	t.Log(items, err)
	cs, err := n.Campaigns(ctx, nil)
	t.Logf("%+v %v", cs[0], err)
}
