package fanout

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/internal/node/fanout/choice"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/display"
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

// Slices returns nil, as for a slave that has no table yet.
func (a *ads) Slices() *pb.SliceTable { return nil }

func (a *ads) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	return &search.Explanation{}, nil
}

// BenchmarkFanout measures the cost of the transport, gathering and merging. Slaves answer at once
// with five complete hits each, to one query after the other and to 64 at a time.
func BenchmarkFanout(b *testing.B) {
	for _, slaves := range []int{1, 3, 10, 30} {
		for _, under := range []int{1, 64} {
			b.Run(fmt.Sprintf("%d slaves/%d under way", slaves, under), func(b *testing.B) {
				r := instant(b, slaves)
				defer r.stop()
				benchmarkFanout(b, New(r, nil), under)
			})
		}
	}
}

// instant returns slaves that answer at once.
func instant(b *testing.B, slaves int) *shardRig {
	r := &shardRig{m: &Map{Epoch: 1, View: 1}}
	lo := uint64(0)
	for s := range slaves {
		hi := ^uint64(0)
		if s < slaves-1 {
			hi = hi / uint64(slaves) * uint64(s+1)
		}
		a := &ads{answer: search.Answer{Width: search.IntervalWidth(lo, hi)}}
		lo = hi + 1
		for i := range 5 {
			id := uint64(10*i + s + 1)
			a.answer.Hits = append(a.answer.Hits, search.Hit{Keyword: id, Advertiser: id, Score: 1000 - id, Quality: 1,
				Ad: id, Display: display.New("advertiser", "campaign", "group", "usb cable", &display.Ad{
					Headlines:    []string{"headline 1", "headline 2", "headline 3"},
					Descriptions: []string{"a description that is long"}, FinalURL: "https://shop.example/usb"}),
			})
		}
		name := fmt.Sprint("slave-", s)
		slave, stop, hangUp := serve(b, name, name, a, kept{})
		r.close = append(r.close, hangUp, stop)
		r.m.Shards = append(r.m.Shards, NewShard(name, a.answer.Width, choice.NewShard(), NewReplica(name, slave)))
	}
	return r
}

func benchmarkFanout(b *testing.B, f *Fanout, under int) {
	q := &search.Request{Query: new(search.Query), Slots: 4, Profile: search.DefaultProfile()}
	b.ReportAllocs()
	b.SetParallelism(max(1, under/runtime.GOMAXPROCS(0)))
	if under == 1 {
		for b.Loop() {
			askBenchmark(b, f, q)
		}
		return
	}
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			askBenchmark(b, f, q)
		}
	})
}

func askBenchmark(b *testing.B, f *Fanout, q *search.Request) {
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
	defer cancel()
	if answer, err := f.Search(ctx, q); err != nil || len(answer.Missing) > 0 {
		b.Error(answer, err)
	}
}
