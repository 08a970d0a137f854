package fanout

import (
	"context"
	"fmt"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/search"
	"adshard/search/shown"
)

// ads is a slave that always has the same hits.
type ads struct {
	barrels.Store
	answer search.Answer
}

func (a *ads) Search(_ context.Context, r *search.Request) (*search.Answer, error) {
	answer := a.answer
	answer.Shard = r.Shard
	return &answer, nil
}

func (a *ads) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	return &search.Explanation{}, nil
}

// BenchmarkFanout is what gRPC, gathering and merging cost: three slaves that
// answer at once with five whole hits each.
func BenchmarkFanout(b *testing.B) {
	r := &shardRig{m: &Map{Epoch: 1, View: 1}}
	defer r.stop()
	lo := uint64(0)
	for s := range 3 {
		hi := ^uint64(0) / 3 * uint64(s+1)
		a := &ads{answer: search.Answer{Width: search.IntervalWidth(lo, hi)}}
		lo = hi + 1
		for i := range 5 {
			id := uint64(10*i + s + 1)
			a.answer.Hits = append(a.answer.Hits, search.Hit{Keyword: id, Advertiser: id, Score: 1000 - id, Quality: 1,
				Ad: id, Shown: shown.New("advertiser", "campaign", "group", "usb cable", &shown.Ad{
					Headlines:    []string{"headline 1", "headline 2", "headline 3"},
					Descriptions: []string{"a description that is long"}, FinalURL: "https://shop.example/usb"}),
			})
		}
		r.add(b, fmt.Sprint("slave-", s), a)
		r.m.Shards[s].Width, r.m.Shards[s].Presence = a.answer.Width, new(Presence)
	}
	q := &search.Request{Query: new(search.Query), Slots: 4, Profile: search.DefaultProfile()}
	f := New(r, nil)
	b.ReportAllocs()
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		answer, err := f.Search(ctx, q)
		cancel()
		if err != nil || len(answer.Missing) > 0 {
			b.Fatal(answer, err)
		}
	}
}
