package balancer

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"adshard/backend"
	"adshard/balance"
	"adshard/barrels"
	"adshard/barrels/certify"
	"adshard/internal/node/truth"
)

// TestTruthIsWhatSlavesHave: the certificates of slaves, filled and changed
// through the balancer, are those of the database, for all bins and any.
func TestTruthIsWhatSlavesHave(t *testing.T) {
	r := newRig(t, 2)
	r.Write(12, 4, 5, 1_000_000)
	r.start()
	r.slave("a")
	r.slave("b")
	r.eventually("filled", r.whole)
	if _, err := r.b.SetBudget(t.Context(), 3, backend.BudgetMark{Exhausted: true}); err != nil {
		t.Fatal(err)
	}
	r.Write(6, 5, 6, 2_000_000)
	r.eventually("followed", r.whole)

	certifier := &truth.Certifier{Order: r.b.order, DB: r.DB, Builders: truth.NewBuilders(r.b.order, 2)}
	for range 8 {
		bins := rand.Uint64() | 1<<rand.IntN(64)
		var of barrels.Certificate
		parents := map[balance.Parent][2]uint64{}
		for _, s := range r.slaves {
			for _, h := range s.store.Slices().GetSlices() {
				c, err := s.store.Certify(t.Context(), h.Lo, h.Hi, bins, nil)
				r.Must(err)
				of.Items += c.Items
				for _, p := range c.Parents {
					kind := backend.KindAdvertiser
					if p.Campaign {
						kind = backend.KindCampaign
					}
					parents[balance.Parent{Kind: uint8(kind), ID: p.ID}] = [2]uint64{p.Hi, p.Lo}
				}
				for i := range of.Bins {
					of.Bins[i].Add(c.Bins[i])
				}
			}
		}
		r.b.mu.Lock() // weights may still come
		keys := truth.Keys(r.b.mapper.Items(), 0, balance.MaxKey, bins)
		r.b.mu.Unlock()
		want, _, err := certifier.Certify(t.Context(), keys, slices.Collect(maps.Keys(parents)))
		r.Must(err)
		equal := slices.EqualFunc(want.Bins[:], of.Bins[:], func(a balance.Sum, b certify.Sum) bool { return a == balance.Sum(b) })
		for _, p := range want.Parents {
			if parents[p.Parent] != [2]uint64{p.Hi, p.Lo} {
				t.Fatalf("parent %+v differs", p.Parent)
			}
		}
		if len(want.Parents) != len(parents) || len(parents) == 0 {
			t.Fatalf("the database has %d of %d parents", len(want.Parents), len(parents))
		}
		if want.Items == 0 || want.Items != of.Items || !equal {
			t.Fatalf("bins %x: the database has %d items, slaves have %d; sums equal: %v", bins, want.Items, of.Items, equal)
		}
	}
}
