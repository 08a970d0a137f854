package fanout

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

// ready is a slave that answers at once.
type ready struct {
	part
	answer *search.Answer
}

func (r *ready) Search(context.Context, *search.Request) (*search.Answer, error) {
	return r.answer, nil
}

// BenchmarkGather measures the cost of asking, gathering and merging without a network. Slaves in
// this process answer at once with no hits, and 64 queries are in progress.
func BenchmarkGather(b *testing.B) {
	for _, n := range []uint64{1, 3, 10, 30} {
		b.Run(fmt.Sprint("slaves=", n), func(b *testing.B) {
			f := New(&listedMaps{list: []*Map{readyMap(n)}}, quick{})
			r := &search.Request{Query: new(search.Query), Slots: 4, Profile: search.DefaultProfile()}
			b.ReportAllocs()
			b.SetParallelism(64 / runtime.GOMAXPROCS(0))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					ctx, cancel := context.WithTimeout(b.Context(), time.Second)
					answer, err := f.Search(ctx, r)
					cancel()
					if err != nil || len(answer.Missing) > 0 {
						b.Error(answer, err)
						return
					}
				}
			})
		})
	}
}

// readyMap returns a map of `n` slaves that answer at once.
func readyMap(n uint64) *Map {
	m := &Map{Epoch: 1, View: 1}
	lo := uint64(0)
	for i := range n {
		hi := ^uint64(0) / n * (i + 1)
		if i == n-1 {
			hi = ^uint64(0)
		}
		a := &search.Answer{Width: search.IntervalWidth(lo, hi), Shards: 1, Answered: 1}
		m.Shards = append(m.Shards, NewShard("slave", a.Width, choice.NewShard(), NewReplica("slave", Concurrent(&ready{answer: a}))))
		lo = hi + 1
	}
	return m
}

// quick is an observer that does nothing.
type quick struct{}

func (quick) Called(string, string, time.Duration, error) {}
func (quick) Hedged(string)                               {}
func (quick) HedgeWon(string)                             {}
func (quick) AskedElsewhere(string)                       {}
func (quick) BudgetUsedUp(string, string)                 {}
func (quick) Merged(time.Duration)                        {}
func (quick) Retried()                                    {}
func (quick) Missing(string, search.Reason)               {}
func (quick) LeftOut(string, string, Absence)             {}
