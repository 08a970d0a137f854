package fanout

import (
	"context"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"adshard/barrels/barreltest"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
	"adshard/search/display"
)

// TestAnyPlacementGivesTheOraclesPage: pages with several placements do not depend on how groups are spread over shards, with real
// streams.
func TestAnyPlacementGivesTheOraclesPage(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	lex := oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		oracletest.Target(t, &w)
		oracletest.Crowd(t, &w, "usb")
		o := barreltest.Judge(t, &w, lex)
		r := place(t, &w, rapid.SampledFrom([]int{1, 3, 7}).Draw(t, "shards"))
		defer r.stop()
		f := New(r, nil)
		for range 4 {
			request := oracletest.DrawRequest(t, w)
			if request.Text = "usb"; rapid.Bool().Draw(t, "other words") {
				request.Text = oracletest.DrawQuery(t, w)
			}
			request.Context = oracletest.DrawContext(t)
			if rapid.Bool().Draw(t, "scored") {
				request.Scorer = models.Add(t, oracletest.DrawModel(t))
			}
			list, perAdvertiser := oracletest.DrawPlacements(t)
			barreltest.SamePage(t, f, o, request, list, perAdvertiser, lex)
		}
	})
}

func oneHit(keyword uint64) search.Hit {
	return search.Hit{Keyword: keyword, Advertiser: keyword, Score: 9, Quality: 1, Display: display.New("a", "c", "g", "k", new(display.Ad))}
}

// unpaged is a slave that does not know placements, and answers as if there were none.
type unpaged struct{ search.Hit }

func (u unpaged) Search(context.Context, *search.Request) (*search.Answer, error) {
	return &search.Answer{Hits: []search.Hit{u.Hit}, Width: search.Width{Lo: 1 << 63}, Shards: 1, Answered: 1}, nil
}

func (unpaged) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	return nil, nil
}

// TestSlavesWithoutPlacements: the answer of a slave that does not know placements does not count, whether it is the only replica
// or one of several.
func TestSlavesWithoutPlacements(t *testing.T) {
	half := search.Width{Lo: 1 << 63}
	old := func() Slave { return Concurrent(unpaged{oneHit(1)}) }
	for name, shards := range map[string][]Shard{
		"alone": {
			NewShard("a", half, choice.NewShard(), NewReplica("a-0", old())),
			NewShard("b", half, choice.NewShard(), NewReplica("b-0", Concurrent(paged{oneHit(2)}))),
		},
		"replicas": {
			NewShard("a", half, choice.NewShard(), NewReplica("a-0", old()), NewReplica("a-1", old())),
			NewShard("b", half, choice.NewShard(), NewReplica("b-0", old()), NewReplica("b-1", Concurrent(paged{oneHit(2)}))),
		},
	} {
		f := New(&shardRig{m: &Map{Epoch: 1, View: 1, Shards: shards}}, nil)
		a, err := f.Search(t.Context(), &search.Request{Query: &search.Query{}, Slots: 1, Page: &search.Page{Filters: make([]search.Filter, 1), PerAdvertiser: 1}})
		if err != nil || len(a.Hits) != 1 || a.Hits[0].Keyword != 2 || len(a.Missing) != 1 || a.Missing[0] != (search.Missing{Shard: "a", Reason: search.Version}) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// paged is a slave with one candidate.
type paged struct{ search.Hit }

func (p paged) Search(context.Context, *search.Request) (*search.Answer, error) {
	p.Filters = 1
	return &search.Answer{Hits: []search.Hit{p.Hit}, Filtered: []uint64{1}, Width: search.Width{Lo: 1 << 63}, Shards: 1, Answered: 1}, nil
}

func (paged) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	return nil, nil
}
