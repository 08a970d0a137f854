package strategy_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/plan"
	"adshard/balance/strategy"
	"adshard/fault"
)

// TestInitial: every strategy makes a plan for any items, makes the same plan again, and
// says why each slice goes where it goes.
func TestInitial(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.SampledFrom([]balance.Order{balance.ByOwner, balance.ByHash}).Draw(rt, "order")
		items := index(t, order, rapid.SliceOfN(rapid.Uint32Range(0, 50), 0, 40).Draw(rt, "weights"))
		list := shards(rapid.IntRange(1, 7).Draw(rt, "shards"))
		limits := map[string]balance.Limit{"n0": {Share: rapid.Uint32Range(0, 5).Draw(rt, "share")}}
		for _, s := range all(t) {
			m, p, err := plan.Initial(s, order, list, items, limits)
			if err != nil {
				rt.Fatalf("%s: %v", s.Name(), err)
			}
			again, _, _ := plan.Initial(s, order, list, items, limits)
			if !reflect.DeepEqual(m, again) {
				rt.Fatalf("%s: not the same plan again", s.Name())
			}
			told := map[int]bool{}
			for _, r := range p.Reasons {
				told[r.Op] = r.Text != ""
			}
			for i, o := range p.Ops {
				if o.Kind == balance.OpMap && !told[i] {
					rt.Fatalf("%s: no reason to %s", s.Name(), o)
				}
			}
			for i, sum := range load.OfSlices(balance.Input{Model: m, Items: items}) {
				if s.Name() == "random" && sum.Items > 1 {
					rt.Fatalf("random: slice %d has %d items", m.Slices()[i].ID, sum.Items)
				}
			}
		}
	})
}

// TestRandomIsRandom: many items are spread as expected by chance; another seed spreads
// them differently; a new shard gets its fair share and no more.
func TestRandomIsRandom(t *testing.T) {
	items := &balance.Index{}
	for i := range 10_000 {
		k, _ := balance.ByHash.Key(1, uint64(i+1))
		items.Put(k, 1)
	}
	var models []*balance.Model
	for _, seed := range []string{"1", "2"} {
		s, err := strategy.Named("random", map[string]string{"seed": seed})
		if err != nil {
			t.Fatal(err)
		}
		m, p, err := plan.Initial(s, balance.ByHash, shards(10), items, nil)
		if err != nil || len(m.Slices()) != 10_000 {
			t.Fatal(err)
		}
		if r := p.Expected.Ratio(); r < 1.01 || r > 1.15 {
			t.Errorf("max/mean %v", r)
		}
		models = append(models, m)
	}
	if reflect.DeepEqual(models[0], models[1]) {
		t.Error("both seeds draw alike")
	}
	e := models[0].Edit()
	id, err := e.Join("late", balance.Site{})
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(t, model(t, e), items, nil)
	s, _ := strategy.Named("random")
	for range 5 {
		l.iterate(s)
	}
	got := 0
	for _, s := range l.m.Slices() {
		if s.Shard == id {
			got++
		}
	}
	if got < 700 || got > 1100 {
		t.Errorf("the new shard has %d items", got)
	}
	if len(l.last.Ops) > 0 {
		t.Errorf("still %d operations", len(l.last.Ops))
	}
}

// TestRandomPlacesNewItems: new items get slices of their own, and slices without items
// disappear.
func TestRandomPlacesNewItems(t *testing.T) {
	items := &balance.Index{}
	for i := range 1000 {
		k, _ := balance.ByHash.Key(1, uint64(i+1))
		items.Put(k, 1)
	}
	s, _ := strategy.Named("random")
	m, _, err := plan.Initial(s, balance.ByHash, shards(4), items, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(t, m, items, nil)
	for i := range 300 {
		k, _ := balance.ByHash.Key(1, uint64(i+1))
		items.Delete(k)
		k, _ = balance.ByHash.Key(1, uint64(i+5001))
		items.Put(k, 1)
	}
	for range 20 {
		l.iterate(s)
	}
	var shards [5]int
	for i, sum := range load.OfSlices(balance.Input{Model: l.m, Items: items}) {
		if sum.Items != 1 {
			t.Fatalf("a slice has %d items", sum.Items)
		}
		shards[l.m.Slices()[i].Shard]++
	}
	for n, has := range shards[1:] {
		if has < 200 || has > 300 {
			t.Errorf("shard %d has %d items", n+1, has)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, name := range strategy.Names() {
		given := map[string]string{}
		for _, o := range strategy.Options(name) {
			if o.Help == "" || o.Default == "" {
				t.Errorf("%s: %+v", name, o)
			}
			given[o.Name] = o.Default
		}
		plain, err := strategy.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := strategy.Named(name, given); err != nil || !reflect.DeepEqual(s, plain) {
			t.Errorf("%s with its defaults given: %v, %v", name, s, err)
		}
	}
	_, err := strategy.Named("weighted-move", map[string]string{"aim": "nan", "split-below": "-3", "speed": "1", "grain": "7"})
	if !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "options" {
		t.Fatal(err)
	}
	for _, want := range []string{`aim is "nan"`, `split-below is "-3"`, `grain is "7"`, `no option "speed"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}

// TestOriginalWithGreatNumbers: the largest possible weights and shares do not overflow
// when shards are compared.
func TestOriginalWithGreatNumbers(t *testing.T) {
	var weights []uint32
	for range 100 {
		weights = append(weights, math.MaxUint32)
	}
	most := balance.Limit{Share: math.MaxUint32}
	s, err := strategy.Named("original")
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := plan.Initial(s, balance.ByOwner, shards(3), index(t, balance.ByOwner, weights), map[string]balance.Limit{"n0": most, "n1": most, "n2": most})
	if err != nil || p.Expected.Ratio() > 1.1 {
		t.Errorf("max/mean %v; %v", p.Expected.Ratio(), err)
	}
}
