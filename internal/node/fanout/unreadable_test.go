package fanout

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"adshard/search"
)

// TestWhatCannotBeShownDoesNotCount: if pieces of a shard's best hits are damaged, its answer is
// missing and the hits of other shards take the places. The pieces of hits that lose are not
// examined.
func TestWhatCannotBeShownDoesNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		b, c    []uint64 // keywords that are damaged
		want    []uint64
		missing []string
	}{
		"none":              {nil, nil, []uint64{1, 2, 3, 4}, nil},
		"one that loses":    {[]uint64{8}, nil, []uint64{1, 2, 3, 4}, nil},
		"a winner":          {[]uint64{2}, nil, []uint64{1, 3, 4, 6}, []string{"b"}},
		"one that moves up": {[]uint64{2}, []uint64{6}, []uint64{1, 4, 7}, []string{"b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, second, third, m := three()
				second.damaged, third.damaged = c.b, c.c
				answer, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(keywords(answer), c.want) || !slices.Equal(names(answer.Missing), c.missing) ||
					(answer.Width == search.WholeRing()) != (len(c.missing) == 0) || answer.Answered != 3-len(c.missing) {
					t.Fatalf("%+v", answer)
				}
				for _, m := range answer.Missing {
					if m.Reason != search.Damaged {
						t.Errorf("%s is missing as %v", m.Shard, m.Reason)
					}
				}
			})
		})
	}
}
