package fanout

import (
	"context"
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

// BenchmarkGather is what asking, gathering and merging cost without a network:
// three slaves that answer at once with nothing.
func BenchmarkGather(b *testing.B) {
	m := &Map{Epoch: 1, View: 1}
	lo := uint64(0)
	for i := range uint64(3) {
		hi := ^uint64(0) / 3 * (i + 1)
		a := &search.Answer{Width: search.IntervalWidth(lo, hi), Shards: 1, Answered: 1}
		m.Shards = append(m.Shards, NewShard("slave", a.Width, choice.NewShard(), NewReplica("slave", Concurrent(&ready{answer: a}))))
		lo = hi + 1
	}
	f := New(&listedMaps{list: []*Map{m}}, quick{})
	r := &search.Request{Query: new(search.Query), Slots: 4, Profile: search.DefaultProfile()}
	b.ReportAllocs()
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		answer, err := f.Search(ctx, r)
		cancel()
		if err != nil || len(answer.Missing) > 0 {
			b.Fatal(answer, err)
		}
	}
}

// quick observes nothing.
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
