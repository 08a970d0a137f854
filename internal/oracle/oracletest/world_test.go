package oracletest_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/internal/oracle/oracletest"
	"adshard/search/words"
)

// TestWorldsKeepTheRules: through any history, parents exist, ids increase, natural keys are unique, clocks of
// changes increase, and texts are valid.
func TestWorldsKeepTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		check(t, &w)
		before := w.Clone()
		was := fmt.Sprintf("%+v", before)
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			clock := w.Clock
			for _, c := range w.Mutate(t) {
				if c.Clock != clock+1 {
					t.Fatalf("clock %d follows %d", c.Clock, clock)
				}
				clock = c.Clock
			}
			if clock != w.Clock {
				t.Fatalf("the world is at clock %d, its changes at %d", w.Clock, clock)
			}
			check(t, &w)
		}
		if fmt.Sprintf("%+v", before) != was {
			t.Fatal("a clone changed with the world")
		}
		oracletest.DrawRequest(t, w)
	})
}

func check(t *rapid.T, w *oracletest.World) {
	keywords := map[uint64]bool{}
	for _, c := range w.Campaigns {
		if w.Advertiser(c.AdvertiserID) == nil {
			t.Fatalf("campaign %d has no advertiser", c.ID)
		}
	}
	var last uint64
	for _, it := range w.Items {
		c := w.Campaign(it.Group.CampaignID)
		if c == nil || c.AdvertiserID != it.Group.AdvertiserID || it.Group.ID <= last {
			t.Fatalf("group %d: wrong parents or order", it.Group.ID)
		}
		last = it.Group.ID
		checkKeywords(t, it, keywords)
	}
}

func checkKeywords(t *rapid.T, it *backend.Item, seen map[uint64]bool) {
	natural := map[string]bool{}
	var last uint64
	for _, k := range it.Keywords {
		key := k.Words + "/" + k.Type.String()
		if seen[k.ID] || natural[key] || k.ID <= last || k.GroupID != it.Group.ID {
			t.Fatalf("keyword %d %q of group %d: not unique or out of order", k.ID, key, it.Group.ID)
		}
		if _, err := words.Keyword(k.Text); err != nil {
			t.Fatal(err)
		}
		seen[k.ID], natural[key], last = true, true, k.ID
	}
}
