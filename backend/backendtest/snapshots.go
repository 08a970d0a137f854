package backendtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"adshard/backend"
	"adshard/fault"
	"adshard/search"
)

func snapshotClauses() []clause {
	return []clause{
		{"a snapshot does not see later commits", testSnapshotStill},
		{"items come in the order asked, missing ones left out", testItems},
		{"parents by id and all", testParents},
		{"group sizes", testSizes},
		{"all ends early when the caller stops", testAllStops},
		{"a snapshot can be read inside its own loops", testNested},
		{"readers see whole transactions while a writer commits", testReaderDuringWriter},
		{"a closed snapshot refuses", testClosedSnapshot},
	}
}

func testSnapshotStill(t *testing.T, f Factory) {
	p := f(t)
	s := openAt(t, p)
	writes(t, s, sample)
	n := snapshot(t, s)
	before := Read(t, n)
	writes(t, openAt(t, p), func(w writer) {
		w.path("later")
		w.words(1, "later")
		w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{Status: backend.Pause}))
	})
	if d := Differ(Read(t, n), before); d != "" {
		t.Error(d)
	}
	if n.Position().Clock >= clockOf(t, s) {
		t.Errorf("the snapshot has position %v, the database clock %d", n.Position(), clockOf(t, s))
	}
	if now := ReadNow(t, s); len(now.Items) != 2 || now.Advertisers[1].Enabled {
		t.Errorf("%+v", now)
	}
}

// many writes n groups; a group has as many keywords as its id mod 7.
func many(t testing.TB, s backend.Store, n int) {
	writes(t, s, func(w writer) {
		for i := range n {
			c := w.campaign(w.advertiser(fmt.Sprint("A", i%3)), fmt.Sprint("C", i%5), backend.CampaignPatch{})
			g := w.group(c, fmt.Sprint("G", i), backend.GroupPatch{})
			for k := range g % 7 {
				w.words(g, fmt.Sprint("word ", k))
			}
			if g%2 == 0 {
				w.ad(g, "Ad", backend.Keep)
				w.negative(backend.NegativeOwner{Group: g}, "free", backend.Keep)
			}
		}
	})
}

func testItems(t *testing.T, f Factory) {
	s := open(t, f)
	many(t, s, 1000)
	writes(t, s, func(w writer) {
		c, err := w.FindCampaign(w.ctx, 1, "C0")
		w.must(err)
		w.group(c, "G0", backend.GroupPatch{Status: backend.Remove})
	})
	n := snapshot(t, s)
	all := Read(t, n)
	for _, ids := range [][]uint64{nil, {5}, {9, 8, 7}, {1, 2, 999, 1000, 1001, 1 << 40}, {3, 3}, {400, 2, 900, 401, 3}} {
		items, err := n.Items(t.Context(), ids)
		check(t, err)
		var want []uint64
		for _, id := range ids {
			if _, ok := all.Items[id]; ok {
				want = append(want, id)
			}
		}
		var got []uint64
		for _, it := range items {
			got = append(got, it.Group.ID)
			if line("", it) != line("", all.Items[it.Group.ID]) {
				t.Errorf("got  %+v\nwant %+v", *it, all.Items[it.Group.ID])
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("asked for %v, got %v, want %v", ids, got, want)
		}
	}
	if len(all.Items) != 999 || len(all.Items[1000].Keywords) != 1000%7 || len(all.Items[1000].Ads) != 1 {
		t.Errorf("%d items, the last %+v", len(all.Items), all.Items[1000])
	}
}

func testParents(t *testing.T, f Factory) {
	s := open(t, f)
	many(t, s, 20)
	writes(t, s, func(w writer) {
		for _, words := range []string{"zebra", "ant"} {
			w.negative(backend.NegativeOwner{Campaign: 2}, words, backend.Keep)
		}
		w.negative(backend.NegativeOwner{Campaign: 4}, "x", backend.Keep)
		for _, words := range []string{"zebra", "ant"} {
			w.negative(backend.NegativeOwner{Advertiser: 3}, words, backend.Keep)
		}
	})
	n := snapshot(t, s)
	ctx := t.Context()
	all, err := n.Campaigns(ctx, nil)
	check(t, err)
	for i, c := range all {
		if c.ID != uint64(i+1) {
			t.Errorf("campaign %d at %d", c.ID, i)
		}
	}
	some, err := n.Campaigns(ctx, []uint64{4, 99, 2})
	check(t, err)
	if len(some) != 2 || line("", some[0]) != line("", all[3]) || line("", some[1]) != line("", all[1]) {
		t.Errorf("%+v", some)
	}
	if ns := some[1].Negatives; len(ns) != 2 || ns[0].Words != "zebra" || ns[1].Words != "ant" || ns[0].ID > ns[1].ID {
		t.Errorf("negatives %+v", ns)
	}
	if none, err := n.Campaigns(ctx, []uint64{}); err != nil || len(none) != 0 {
		t.Errorf("no ids gave %v, %v", none, err)
	}
	as, err := n.Advertisers(ctx, []uint64{3, 7, 1})
	if err != nil || len(as) != 2 || as[0].Name != "A2" || as[1].Name != "A0" {
		t.Errorf("%+v, %v", as, err)
	}
	if ns := as[0].Negatives; len(ns) != 2 || ns[0].Words != "zebra" || ns[1].Words != "ant" || ns[0].ID > ns[1].ID || len(as[1].Negatives) > 0 {
		t.Errorf("negatives %+v and %+v", ns, as[1].Negatives)
	}
}

func testSizes(t *testing.T, f Factory) {
	s := open(t, f)
	many(t, s, 1500)
	writes(t, s, func(w writer) {
		for m := range search.MatchTypes {
			w.keyword(1, backend.KeywordPatch{Text: "word 0", Words: "word 0", Type: search.MatchType(m)})
		}
	})
	n := snapshot(t, s)
	all := Read(t, n)
	next := uint64(1)
	for g, err := range n.Groups(t.Context()) {
		check(t, err)
		it := all.Items[next]
		texts := map[string]bool{}
		for _, k := range it.Keywords {
			texts[k.Words] = true
		}
		want := backend.GroupSize{ID: next, AdvertiserID: it.Group.AdvertiserID, CampaignID: it.Group.CampaignID,
			Keywords: uint32(len(it.Keywords)), Ads: uint32(len(it.Ads)), Lexicon: uint32(len(texts))}
		if g != want {
			t.Fatalf("got %+v, want %+v", g, want)
		}
		next++
	}
	if next != 1501 {
		t.Errorf("%d groups", next-1)
	}
}

func testAllStops(t *testing.T, f Factory) {
	s := open(t, f)
	many(t, s, 2000)
	n := snapshot(t, s)
	for _, after := range []int{1, 300, 1500} {
		seen := 0
		for _, err := range n.All(t.Context()) {
			check(t, err)
			if seen++; seen == after {
				break
			}
		}
		if seen != after {
			t.Errorf("%d items, want %d", seen, after)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range n.All(ctx) {
		cancel()
		last = err
	}
	if !fault.Is(last, fault.Cancelled) {
		t.Errorf("after the end of its context: %v", last)
	}
	if len(Read(t, n).Items) != 2000 {
		t.Error("the snapshot is not whole any more")
	}
}

func testNested(t *testing.T, f Factory) {
	s := open(t, f)
	many(t, s, 600)
	n := snapshot(t, s)
	writes(t, s, func(w writer) { w.path("later") }) // so that reads cannot be spread over connections
	seen := 0
	for it, err := range n.All(t.Context()) {
		check(t, err)
		same, err := n.Items(t.Context(), []uint64{it.Group.ID})
		check(t, err)
		if len(same) != 1 || line("", same[0]) != line("", it) {
			t.Fatalf("group %d differs", it.Group.ID)
		}
		seen++
	}
	for g, err := range n.Groups(t.Context()) {
		check(t, err)
		if _, err := n.Campaigns(t.Context(), []uint64{g.CampaignID}); err != nil {
			t.Fatal(err)
		}
		seen--
	}
	if seen != 0 {
		t.Errorf("All and Groups differ by %d", seen)
	}
}

// testReaderDuringWriter commits transactions that keep two groups equal. No snapshot may see them differ.
func testReaderDuringWriter(t *testing.T, f Factory) {
	p := f(t)
	s, other := openAt(t, p), openAt(t, p)
	bids := func(w writer, bid uint64) {
		for _, g := range []string{"G", "H"} {
			w.group(w.campaign(w.advertiser("A"), "C", backend.CampaignPatch{}), g, backend.GroupPatch{Bid: backend.To(bid)})
		}
	}
	writes(t, s, func(w writer) { bids(w, 0) })
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for _, from := range []backend.Store{s, other} {
		readers.Go(func() {
			last := uint64(0)
			for {
				select {
				case <-stop:
					return
				default:
				}
				n, err := from.Snapshot(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				items, err := n.Items(context.Background(), []uint64{1, 2})
				if err != nil || len(items) != 2 || items[0].Group.Bid != items[1].Group.Bid || items[0].Group.Bid < last {
					t.Errorf("%v, %v after %d", items, err, last)
				} else {
					last = items[0].Group.Bid
				}
				n.Close()
			}
		})
	}
	for i := range uint64(50) {
		writes(t, s, func(w writer) { bids(w, i+1) })
	}
	close(stop)
	readers.Wait()
}

func testClosedSnapshot(t *testing.T, f Factory) {
	s := open(t, f)
	n := snapshot(t, s)
	check(t, n.Close())
	check(t, n.Close())
	if _, err := n.Items(t.Context(), []uint64{1}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
}
