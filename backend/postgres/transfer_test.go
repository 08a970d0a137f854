package postgres_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/sqlite"
	"adshard/backend/transfer"
	"adshard/blocklist"
	"adshard/fault"
)

// named returns the state with paths instead of ids, so that copies compare equal.
func named(s backendtest.State) []string {
	plain := backendtest.NewState()
	for id, a := range s.Advertisers {
		a.ID, a.Negatives = 0, slices.Clone(a.Negatives)
		for i := range a.Negatives {
			a.Negatives[i].ID, a.Negatives[i].AdvertiserID = 0, 0
		}
		plain.Advertisers[id] = a
	}
	for id, c := range s.Campaigns {
		c.Name = s.Advertisers[c.AdvertiserID].Name + "/" + c.Name
		c.ID, c.AdvertiserID, c.Negatives = 0, 0, slices.Clone(c.Negatives)
		for i := range c.Negatives {
			c.Negatives[i].ID, c.Negatives[i].CampaignID = 0, 0
		}
		plain.Campaigns[id] = c
	}
	for id, it := range s.Items {
		c := s.Campaigns[it.Group.CampaignID]
		path := s.Advertisers[c.AdvertiserID].Name + "/" + c.Name + "/" + it.Group.Name
		it.Group = backend.Group{
			Name: path, GroupSettings: backend.GroupSettings{Enabled: it.Group.Enabled, Bid: it.Group.Bid, HasBid: it.Group.HasBid, Modifiers: it.Group.Modifiers},
		}
		it.Keywords, it.Negatives, it.Ads = slices.Clone(it.Keywords), slices.Clone(it.Negatives), slices.Clone(it.Ads)
		for i := range it.Keywords {
			it.Keywords[i].ID, it.Keywords[i].GroupID, it.Keywords[i].Text = 0, 0, path+it.Keywords[i].Text
		}
		for i := range it.Negatives {
			it.Negatives[i].ID, it.Negatives[i].GroupID, it.Negatives[i].CampaignID = 0, 0, 0
			it.Negatives[i].Text = path + it.Negatives[i].Text
		}
		for i := range it.Ads {
			it.Ads[i].ID, it.Ads[i].GroupID, it.Ads[i].Path1 = 0, 0, path+it.Ads[i].Path1
		}
		plain.Items[id] = it
	}
	return plain.Lines()
}

// TestTransfer copies a database from SQLite to PostgreSQL and back.
func TestTransfer(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it reads and writes much")
	}
	ctx := t.Context()
	file := func() backend.Store {
		s, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	first, server, last := file(), backend.Store(open(t, newPlace(t))), file()
	backendtest.Fill(t, first, 2000)
	must(t, write(ctx, first, func(tx backend.Tx) error { // gaps in ids, statuses, all values
		a, err := tx.Advertiser(ctx, "no campaigns")
		if err == nil {
			err = tx.UpdateAdvertiser(ctx, a, backend.AdvertiserPatch{Status: backend.Pause})
		}
		if err == nil {
			_, err = tx.Group(ctx, 1, "group 5", backend.GroupPatch{Status: backend.Remove})
		}
		if err == nil {
			err = tx.Keyword(ctx, 7, backend.KeywordPatch{Text: "USB  Cable", Words: "usb cable", Status: backend.Pause, Bid: backend.To[uint64](0), Quality: backend.To[uint8](9)})
		}
		if err == nil {
			_, err = tx.Campaign(ctx, 1, "campaign 0", backend.CampaignPatch{DailyBudget: backend.To[uint64](5), Status: backend.Pause, RotateEvenly: backend.To(true)})
		}
		if err == nil {
			err = tx.Negative(ctx, backend.NegativeOwner{Advertiser: 1}, backend.NegativePatch{Text: "never", Words: "never", Status: backend.Pause})
		}
		if err == nil {
			err = tx.Negative(ctx, backend.NegativeOwner{Campaign: 2}, backend.NegativePatch{Text: "free", Words: "free", Status: backend.Pause})
		}
		return err
	}))
	must(t, first.SetBudget(ctx, 3, backend.BudgetMark{Exhausted: true, Share: backend.To[uint32](300_000)}))
	table := bytes.Repeat([]byte("table"), backend.DocumentPart)
	for _, name := range []string{"removed", "table"} {
		_, err := first.SaveDocument(ctx, name, 0, table)
		must(t, err)
	}
	_, err := first.SaveDocument(ctx, "removed", 1, nil)
	must(t, err)
	_, err = blocklist.Save(ctx, first, "a", 0, &blocklist.List{Advertisers: []uint64{2, 77}, Categories: []string{"c"}})
	must(t, err)
	want := named(backendtest.ReadNow(t, first))
	for _, step := range [][2]backend.Store{{first, server}, {server, last}} {
		done, err := transfer.Copy(ctx, step[0], step[1], backend.Making{}, nil)
		must(t, err)
		if n, err := step[1].Counts(ctx); err != nil || n != done {
			t.Errorf("copied %+v, there are %+v, %v", done, n, err)
		}
		got := named(backendtest.ReadNow(t, step[1]))
		slices.Sort(got)
		sorted := slices.Sorted(slices.Values(want))
		if !slices.Equal(got, sorted) {
			t.Errorf("the copy differs: %d and %d lines", len(got), len(sorted))
		}
		if d, err := step[1].Document(ctx, "removed"); !fault.Is(err, fault.NotFound) {
			t.Errorf("%+v, %v", d, err)
		}
		if l, err := blocklist.Load(ctx, step[1], "a"); err != nil || len(l.Advertisers) != 1 || len(l.Categories) != 1 ||
			backendtest.ReadNow(t, step[1]).Advertisers[l.Advertisers[0]].Name != backendtest.ReadNow(t, first).Advertisers[2].Name {
			t.Errorf("%+v, %v", l, err)
		}
		d, err := step[1].Document(ctx, "table")
		must(t, err)
		if data, err := backend.ReadDocument(ctx, d, step[1].DocumentPart); err != nil || !bytes.Equal(data, table) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	}
	if _, err := transfer.Copy(ctx, first, last, backend.Making{}, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("into a database that is not empty: %v", err)
	}
}
