package layouttest

import (
	"reflect"
	"testing"

	"adshard/bench/layouts"
)

// TestOracle compares the oracle with results worked out by hand.
func TestOracle(t *testing.T) {
	b := layouts.NewBuilder()
	keyword := func(bid uint32, quality uint8, words ...string) {
		for _, w := range words {
			b.Word(w)
		}
		b.Keyword(bid, quality)
	}
	b.Group(1, 1)
	keyword(10, 5, "red", "shoes") // 1
	keyword(25, 2, "shoes")        // 2, as good as 1
	keyword(30, 5, "red", "hat")   // 3
	b.Group(2, 2)
	keyword(10, 6, "shoes", "red") // 4
	keyword(90, 9, "reds")         // 5
	for advertiser := uint64(3); advertiser < 8; advertiser++ {
		b.Group(advertiser, advertiser)
		keyword(1, 1, "red") // 6 to 10
	}
	s := b.Set()
	o := NewOracle(s)
	for _, tt := range []struct {
		query string
		want  layouts.Found
	}{
		{"shoes", layouts.Found{Matches: 1, Sum: 2, Best: []uint64{2}}},
		{"Shoes, RED shoes", layouts.Found{Matches: 8, Sum: 47, Best: []uint64{4, 1, 6, 7, 8}}},
		{"hat", layouts.Found{}},
		{"", layouts.Found{}},
	} {
		q, err := layouts.NewQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Found(q); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: found %+v, want %+v", tt.query, got, tt.want)
		}
	}
	o.Change([]layouts.Change{{Keyword: 2, Like: 1}, {Keyword: 1, Like: 2}, {Keyword: 2, Like: 2}})
	q, _ := layouts.NewQuery("red hat")
	if got := o.Found(q); !reflect.DeepEqual(got, layouts.Found{Matches: 7, Sum: 45, Best: []uint64{3, 6, 7, 8, 9}}) {
		t.Errorf("after changes: %+v", got)
	}
}
