package fanout

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/internal/node/home"
	"adshard/internal/node/shardserver"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
	"adshard/search"
)

// shardRig is slaves over memory stores behind real gRPC, and a map of them.
type shardRig struct {
	m     *Map
	close []func()
}

// Current and Newer implement Maps: there is one map only.
func (r *shardRig) Current() *Map { return r.m }
func (r *shardRig) Newer(ctx context.Context, _ *Map) *Map {
	<-ctx.Done()
	return nil
}

// kept is the upkeep of a store that lacks nothing.
type kept struct{}

func (kept) Lacking() string               { return "" }
func (kept) Lag() time.Duration            { return 0 }
func (kept) Discard(_, _ uint64, _ string) {}

// add serves a store over gRPC as one more shard, reached by dial.
func (r *shardRig) add(t barreltest.TB, name string, store shardserver.Store, dial Dialer) {
	slave, end := serve(t, name, store, dial)
	r.close = append(r.close, end)
	r.m.Shards = append(r.m.Shards, single(name, slave))
}

func (r *shardRig) stop() {
	for _, f := range r.close {
		f()
	}
}

// place spreads a world over slaves: the ring is cut at random keys, each slice
// is served by one slave, and others may hold it as residue: not yet served, or
// no longer.
func place(t *rapid.T, w *oracletest.World, slaves int, dial Dialer) *shardRig {
	const view = 3
	tables := make([]*pb.SliceTable, slaves)
	for i := range tables {
		tables[i] = &pb.SliceTable{View: view}
	}
	cuts := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) uint64 {
		if len(w.Items) > 0 && rapid.Bool().Draw(t, "at an item") {
			return barreltest.Key(t, w.Items[rapid.IntRange(0, len(w.Items)-1).Draw(t, "item")])
		}
		return rapid.Uint64Range(1, 1<<64-1).Draw(t, "cut")
	}), 0, 12, rapid.ID[uint64]).Draw(t, "cuts")
	slices.Sort(cuts)
	lo := uint64(0)
	for id := 1; ; id++ {
		hi := ^uint64(0)
		if id <= len(cuts) {
			hi = cuts[id-1] - 1
			if cuts[id-1] == 0 {
				hi = 0
			}
		}
		if hi >= lo {
			owner := rapid.IntRange(0, slaves-1).Draw(t, "owner")
			for s := range slaves {
				held := &pb.HeldSlice{Id: uint64(id), Lo: lo, Hi: hi, Generation: 1}
				switch {
				case s == owner:
					held.From = rapid.Uint64Range(1, view).Draw(t, "from")
				case rapid.IntRange(0, 3).Draw(t, "residue") > 0:
					continue
				case rapid.Bool().Draw(t, "no longer"):
					held.From, held.Until = 1, view-1
				}
				tables[s].Slices = append(tables[s].Slices, held)
			}
			lo = hi + 1
		}
		if hi == ^uint64(0) {
			break
		}
	}
	r := &shardRig{m: &Map{Epoch: 1, View: view}}
	for i, table := range tables {
		r.add(t, home.StoreName(i), filled(t, w, home.StoreName(i), table), dial)
	}
	return r
}

// filled is a slave's store that holds the slices of a table with all of the
// parents.
func filled(t *rapid.T, w *oracletest.World, name string, table *pb.SliceTable) barrels.Store {
	all := barreltest.NewBuilder(t, w).All()
	all.Slices = table
	all.Items = slices.DeleteFunc(all.Items, func(i *pb.Item) bool {
		return !slices.ContainsFunc(table.Slices, func(s *pb.HeldSlice) bool {
			return s.Lo <= i.Group.Key && i.Group.Key <= s.Hi
		})
	})
	s := barreltest.InMemory(t, name)
	if err := s.Apply(context.Background(), all); err != nil {
		t.Fatalf("apply: %v", err)
	}
	return s
}

// TestAnyPlacementGivesTheOraclesAnswer is the promise of serving.md §5: a
// complete answer does not depend on how groups lie on slaves, nor on how these are
// asked.
func TestAnyPlacementGivesTheOraclesAnswer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	lex := oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		o := barreltest.Judge(t, &w, lex)
		dial := dialers()[rapid.SampledFrom([]string{"stream", "unary"}).Draw(t, "transport")]
		r := place(t, &w, rapid.SampledFrom([]int{1, 3, 7}).Draw(t, "slaves"), dial)
		defer r.stop()
		f := New(r, nil)
		for range 4 {
			request := oracletest.DrawRequest(t, w)
			barreltest.SameAnswer(t, f, o, request, lex)
			sameExplanation(t, f, o, barreltest.Request(t, request, lex), request)
		}
	})
}

// sameExplanation compares which keywords match, their order and what decides.
func sameExplanation(t *rapid.T, f *Fanout, o *oracle.Oracle, q *search.Request, r oracle.Request) {
	want, err := o.Explain(r)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	got, err := f.Explain(context.Background(), q, 1000)
	if err != nil {
		t.Fatalf("explain: %v", err)
	}
	if len(got.Matches) != len(want) || got.Total != uint64(len(want)) || got.Width != search.WholeRing() || len(got.Missing) > 0 {
		t.Fatalf("%q: %d matches of %d, want %d", r.Text, len(got.Matches), got.Total, len(want))
	}
	for i, g := range got.Matches {
		j := want[i]
		if g.Keyword != j.Keyword.ID || g.Effective != j.Effective || g.Shard == "" {
			t.Fatalf("%q: match %d is keyword %d, want %d", r.Text, i, g.Keyword, j.Keyword.ID)
		}
	}
}
