package quality_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/quality"
)

// counted is a count of a cell, as a collector adds it.
type counted struct {
	quality.Cell
	quality.Count
}

// drawCounts draws counts of few keys, so that cells repeat.
func drawCounts(t *rapid.T) []counted {
	count := rapid.OneOf(rapid.Uint64Range(0, 50), rapid.Just[uint64](math.MaxUint64))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) counted {
		group := rapid.Uint64Range(1, 4).Draw(t, "group")
		keyword := 10*group + rapid.Uint64Range(0, 2).Draw(t, "keyword")
		return counted{
			quality.Cell{
				Key: quality.Key{
					Campaign: (group + 1) / 2, Group: group, Keyword: keyword,
					Ad: rapid.Uint64Range(0, 2).Draw(t, "ad"),
				},
				Position: rapid.Uint8Range(1, 4).Draw(t, "position"), Day: rapid.Int32Range(-3, 20).Draw(t, "day"),
			},
			quality.Count{Impressions: count.Draw(t, "impressions"), Clicks: rapid.Uint64Range(0, 9).Draw(t, "clicks")},
		}
	}), 0, 60).Draw(t, "counts")
}

func collected(t interface{ Fatal(...any) }, list []counted) *quality.Counts {
	c := new(quality.Counts)
	for _, n := range list {
		if err := c.Add(n.Cell, n.Count); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestCountsAreSums: the counts of several collectors add up to the same sum, in whatever order
// they are added and merged, and give the same model.
func TestCountsAreSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawCounts(t)
		one := collected(t, list)

		shuffled := slices.Clone(list)
		seed := rapid.Uint64().Draw(t, "order")
		order := rand.New(rand.NewPCG(seed, 0))
		order.Shuffle(len(list), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		parts := make([][]counted, rapid.IntRange(1, 4).Draw(t, "collectors"))
		for _, n := range shuffled {
			i := order.IntN(len(parts))
			parts[i] = append(parts[i], n)
		}
		merged := new(quality.Counts)
		for _, part := range parts {
			merged.Merge(collected(t, part))
		}

		want := make(map[quality.Cell]quality.Count)
		for _, n := range list {
			if n.Count == (quality.Count{}) {
				continue
			}
			sum := want[n.Cell]
			if sum.Impressions += n.Impressions; sum.Impressions < n.Impressions {
				sum.Impressions = math.MaxUint64
			}
			sum.Clicks += n.Clicks
			want[n.Cell] = sum
		}
		for _, c := range []*quality.Counts{one, merged} {
			if got := maps.Collect(c.All()); !maps.Equal(got, want) {
				t.Fatalf("counted %v, want %v", got, want)
			}
		}
		o := quality.Options{HalfLife: 7, Optimism: 1}
		a, errA := quality.Learn(one, 10, o)
		b, errB := quality.Learn(merged, 10, o)
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("models differ: %+v (%v), %+v (%v)", a, errA, b, errB)
		}
	})
}

// TestMergeLeavesTheOther: Merge copies the other's counts.
func TestMergeLeavesTheOther(t *testing.T) {
	cell := quality.Cell{Key: quality.Key{Campaign: 1, Group: 1, Keyword: 1}, Position: 1}
	a := collected(t, []counted{{cell, quality.Count{Impressions: 1}}})
	b := new(quality.Counts)
	b.Merge(a)
	b.Merge(a)
	if got := maps.Collect(a.All())[cell]; got.Impressions != 1 {
		t.Errorf("the merged one has %v now", got)
	}
	if got := maps.Collect(b.All())[cell]; got.Impressions != 2 {
		t.Errorf("merged twice: %v", got)
	}
}

func TestAllAscends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := quality.Cell{Day: math.MinInt32}
		for c := range collected(t, drawCounts(t)).All() {
			at := func(c quality.Cell) []int64 {
				return []int64{int64(c.Campaign), int64(c.Group), int64(c.Keyword), int64(c.Ad), int64(c.Position), int64(c.Day)}
			}
			if slices.Compare(at(last), at(c)) >= 0 {
				t.Fatalf("%v stands after %v", c, last)
			}
			last = c
		}
	})
}

func TestDrop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawCounts(t)
		before := rapid.Int32Range(-4, 22).Draw(t, "before")
		c := collected(t, list)
		c.Drop(before)
		rest := collected(t, slices.DeleteFunc(slices.Clone(list), func(n counted) bool { return n.Day < before }))
		if got, want := maps.Collect(c.All()), maps.Collect(rest.All()); !maps.Equal(got, want) {
			t.Fatalf("dropped to %v, want %v", got, want)
		}
	})
}

func TestAddRefuses(t *testing.T) {
	good := quality.Cell{Key: quality.Key{Campaign: 1, Group: 2, Keyword: 3, Ad: 4}, Position: 1}
	for field, change := range map[string]func(*quality.Cell){
		"campaign": func(c *quality.Cell) { c.Campaign = 0 },
		"group":    func(c *quality.Cell) { c.Group = 0 },
		"keyword":  func(c *quality.Cell) { c.Keyword = 0 },
		"position": func(c *quality.Cell) { c.Position = 0 },
		"":         func(c *quality.Cell) { c.Position = quality.MaxPosition; c.Ad = 0 },
	} {
		cell, c := good, new(quality.Counts)
		change(&cell)
		err := c.Add(cell, quality.Count{Impressions: 1})
		if fault.FieldOf(err) != field || (err != nil) != (field != "") {
			t.Errorf("%+v: field %q, error %v", cell, fault.FieldOf(err), err)
		}
		if n := len(maps.Collect(c.All())); (n == 1) != (err == nil) {
			t.Errorf("%+v: %d cells after error %v", cell, n, err)
		}
	}
	high := good
	high.Position = quality.MaxPosition + 1
	if err := new(quality.Counts).Add(high, quality.Count{Impressions: 1}); fault.FieldOf(err) != "position" {
		t.Errorf("position %d: %v", high.Position, err)
	}
}
