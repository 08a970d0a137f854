package barrels_test

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"adshard/barrels"
	"adshard/barrels/memory"
	"adshard/search"
)

// TestRotInMemoryIsFoundAndDropped: a certificate finds cached data that differ
// from the stored data and reports them, and the next search reads the store
// again.
func TestRotInMemoryIsFoundAndDropped(t *testing.T) {
	for _, what := range []string{"signature", "members", "bytes", "impacts", "group", "display", "campaign", "share", "advertiser", "negative of an advertiser"} {
		t.Run(what, func(t *testing.T) {
			s := open(t, memory.NewDB())
			defer s.Close()
			if err := s.Apply(context.Background(), quarters(t)); err != nil {
				t.Fatal(err)
			}
			want := best(t, s)
			best(t, s) // now from memory
			if !barrels.Rot(s, what) {
				t.Fatal("there is nothing of the kind in memory")
			}
			var met []barrels.Damage
			s.OnDamage(func(d barrels.Damage) { met = append(met, d) })
			before, err := s.Certify(context.Background(), 0, ^uint64(0), ^uint64(0), nil)
			if err != nil {
				t.Fatal(err)
			}
			reports := 1
			if what == "share" { // and the cached impacts that depend on it
				reports = 2
			}
			if what != "display" && (len(met) != reports || !met[0].Memory) { // displays are simply composed again
				t.Errorf("met: %+v", met)
			}
			if got := best(t, s); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			met = nil
			after, err := s.Certify(context.Background(), 0, ^uint64(0), ^uint64(0), nil)
			if err != nil || len(met) > 0 || after.Bins != before.Bins {
				t.Errorf("again: %+v, %v", met, err)
			}
		})
	}
}

// TestNothingIsDroppedThatIsRight: certificates of undamaged stores report no damage.
func TestNothingIsDroppedThatIsRight(t *testing.T) {
	s := open(t, memory.NewDB())
	defer s.Close()
	d := quarters(t)
	s.OnDamage(func(d barrels.Damage) { t.Errorf("%+v", d) })
	for range 3 {
		if err := s.Apply(context.Background(), d); err != nil {
			t.Fatal(err)
		}
		best(t, s)
		best(t, s)
		if _, err := s.Certify(context.Background(), 0, ^uint64(0), ^uint64(0), nil); err != nil {
			t.Fatal(err)
		}
		d.From, d.To.Clock = s.Position(), d.To.Clock+1
		d.Campaigns[0].BudgetExhausted = !d.Campaigns[0].BudgetExhausted
		d.Items[0].Group.Enabled = !d.Items[0].Group.Enabled
	}
}

func best(t *testing.T, s barrels.Store) []search.Hit {
	t.Helper()
	q, err := search.Expand("usb cable", search.Synonym, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Search(context.Background(), &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 20})
	if err != nil || len(a.Hits) == 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	for i := range a.Hits { // the store caches what is shown
		h := &a.Hits[i]
		h.Display.Keyword, h.Display.Group = bytes.Clone(h.Display.Keyword), bytes.Clone(h.Display.Group)
	}
	return a.Hits
}
