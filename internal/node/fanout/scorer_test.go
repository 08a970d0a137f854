package fanout

import (
	"context"
	"testing"

	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

// scoring is a slave that always answers with one scorer, whatever it is asked. A slave of an older version answers with
// none.
type scoring struct {
	search.Hit
	by search.ScorerID
}

func (s scoring) Search(context.Context, *search.Request) (*search.Answer, error) {
	return &search.Answer{Hits: []search.Hit{s.Hit}, Scorer: s.by, Width: search.Width{Lo: 1 << 63}, Shards: 1, Answered: 1}, nil
}

func (s scoring) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	return &search.Explanation{Matches: []search.Explained{{Hit: s.Hit}}, Total: 1, Scorer: s.by, Width: search.Width{Lo: 1 << 63}}, nil
}

// TestSlavesWithoutTheScorer: an answer with another scorer or with none does not count, whether its slave is the only
// replica or one of several.
func TestSlavesWithoutTheScorer(t *testing.T) {
	half, asked := search.Width{Lo: 1 << 63}, search.ScorerID{7}
	for name, by := range map[string]search.ScorerID{"none": {}, "another": {8}} {
		wrong, right := func() Slave { return Concurrent(scoring{oneHit(1), by}) }, func() Slave { return Concurrent(scoring{oneHit(2), asked}) }
		for kind, shards := range map[string][]Shard{
			"alone": {
				NewShard("a", half, choice.NewShard(), NewReplica("a-0", wrong())),
				NewShard("b", half, choice.NewShard(), NewReplica("b-0", right())),
			},
			"replicas": {
				NewShard("a", half, choice.NewShard(), NewReplica("a-0", wrong()), NewReplica("a-1", wrong())),
				NewShard("b", half, choice.NewShard(), NewReplica("b-0", wrong()), NewReplica("b-1", right())),
			},
		} {
			f := New(&shardRig{m: &Map{Epoch: 1, View: 1, Shards: shards}}, nil)
			r := &search.Request{Query: &search.Query{}, Slots: 1, Scorer: asked}
			missing := search.Missing{Shard: "a", Reason: search.Version}
			a, err := f.Search(t.Context(), r)
			if err != nil || len(a.Hits) != 1 || a.Hits[0].Keyword != 2 || len(a.Missing) != 1 || a.Missing[0] != missing {
				t.Errorf("%s, %s: %+v, %v", name, kind, a, err)
			}
			e, err := f.Explain(t.Context(), r, 10)
			if err != nil || len(e.Matches) != 1 || e.Matches[0].Keyword != 2 || len(e.Missing) != 1 || e.Missing[0] != missing {
				t.Errorf("%s, %s: %+v, %v", name, kind, e, err)
			}
		}
	}
}
