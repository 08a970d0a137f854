package fanout

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/home"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
	"adshard/search"
)

// models are the scoring models of all slaves in these tests.
var models barreltest.Models

// shardRig is a set of slaves with memory stores behind real gRPC, and a map of them.
type shardRig struct {
	m     *Map
	close []func()
	lags  bool // a replica has older data
}

// Current and Newer implement Maps. There is only one map.
func (r *shardRig) Current() *Map { return r.m }
func (r *shardRig) Newer(ctx context.Context, _ *Map) *Map {
	<-ctx.Done()
	return nil
}

// kept is the upkeep of a store that lacks nothing.
type kept struct{ lag time.Duration }

func (kept) WhyIncomplete() string         { return "" }
func (k kept) Lag() time.Duration          { return k.lag }
func (kept) Discard(_, _ uint64, _ string) {}

// state is the state of a replica.
type state string

// The states of a replica. For all but the first, a master asks another replica.
const (
	good     state = "good"
	gone     state = "gone"     // its process has ended
	released state = "released" // it has left the shard, which its master does not know yet
	outdated state = "outdated" // it does not know the newest view
	unfilled state = "unfilled" // it lacks slices
	lagging  state = "lagging"  // it lacks changes, and says how old its data are
)

// add adds a shard with one to three replicas, one of which is good while the others may be in any
// state.
func (r *shardRig) add(t *rapid.T, w *oracletest.World, shard string, table *pb.SliceTable) {
	states := []state{good}
	for range rapid.IntRange(0, 2).Draw(t, "more replicas") {
		s := rapid.SampledFrom([]state{good, gone, released, outdated, unfilled, lagging}).Draw(t, "state")
		at := rapid.IntRange(0, len(states)).Draw(t, "place")
		states = slices.Insert(states, at, s)
	}
	width := search.Width{}
	for _, s := range table.Slices {
		if s.From > 0 && s.Until == 0 {
			width = width.Add(search.IntervalWidth(s.Lo, s.Hi))
		}
	}
	var list []Replica
	for i, s := range states {
		name := fmt.Sprint(shard, "-", i)
		list = append(list, NewReplica(name, r.replica(t, w, shard, name, table, s)))
	}
	r.m.Shards = append(r.m.Shards, NewShard(shard, width, choice.NewShard(), list...))
}

// replica serves a replica over gRPC.
func (r *shardRig) replica(t *rapid.T, w *oracletest.World, shard, name string, table *pb.SliceTable, s state) Slave {
	own, world, upkeep := proto.CloneOf(table), *w, kept{}
	own.Shard = shard
	switch s {
	case released:
		own.Shard, own.Spare = "", true
	case outdated:
		own.View--
	case unfilled:
		for _, held := range own.Slices {
			if rapid.Bool().Draw(t, "lacks it") {
				held.From = 0
			}
		}
	case lagging:
		r.lags, upkeep.lag = true, 2*mostLag
		world.Items = slices.DeleteFunc(slices.Clone(w.Items), func(*backend.Item) bool { return rapid.Bool().Draw(t, "new") })
	}
	slave, stop, hangUp := serve(t, name, shard, filled(t, &world, name, own), upkeep)
	if r.close = append(r.close, hangUp); s == gone {
		stop()
	} else {
		r.close = append(r.close, stop)
	}
	return slave
}

func (r *shardRig) stop() {
	for _, f := range r.close {
		f()
	}
}

// place spreads a world over shards. The ring is cut at random keys, and each slice is served by
// one shard. Other shards may hold a slice that they do not serve yet or no longer serve.
func place(t *rapid.T, w *oracletest.World, shards int) *shardRig {
	const view = 3
	tables := make([]*pb.SliceTable, shards)
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
			owner := rapid.IntRange(0, shards-1).Draw(t, "owner")
			for s := range shards {
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
		r.add(t, w, home.StoreName(i), table)
	}
	return r
}

// filled returns a slave's store that holds the slices of a table, and all of the parents.
func filled(t *rapid.T, w *oracletest.World, name string, table *pb.SliceTable) barrels.Store {
	all := barreltest.NewBuilder(t, w).All()
	all.Slices = table
	all.Items = slices.DeleteFunc(all.Items, func(i *pb.Item) bool {
		return !slices.ContainsFunc(table.Slices, func(s *pb.HeldSlice) bool {
			return s.Lo <= i.Group.Key && i.Group.Key <= s.Hi
		})
	})
	s := models.InMemory(t, name, 0)
	if err := s.Apply(context.Background(), all); err != nil {
		t.Fatalf("apply: %v", err)
	}
	return s
}

// TestAnyPlacementGivesTheOraclesAnswer tests the guarantee in serving.md §5: a complete answer
// depends neither on how groups are spread over shards, nor on which replicas are asked, how, and
// how many of them do not serve. As long as one replica of each shard serves, answers are complete.
// This also holds with targeting, contexts and blocks, and with any scorer.
func TestAnyPlacementGivesTheOraclesAnswer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	lex := oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		targeted := rapid.Bool().Draw(t, "targeted")
		if targeted {
			oracletest.Target(t, &w)
		}
		o := barreltest.Judge(t, &w, lex)
		r := place(t, &w, rapid.SampledFrom([]int{1, 3, 7}).Draw(t, "shards"))
		defer r.stop()
		f := New(r, nil)
		for range 4 {
			request := oracletest.DrawRequest(t, w)
			if targeted {
				request.Context = oracletest.DrawContext(t)
			}
			if rapid.Bool().Draw(t, "scored") {
				if request.Context == nil {
					request.Context = &oracle.Context{Time: time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)}
				}
				request.Scorer = models.Add(t, oracletest.DrawModel(t))
			}
			barreltest.SameAnswer(t, f, o, request, lex)
			if r.lags || targeted {
				continue // an explanation does not say how old it is; with a context, package query compares verdicts
			}
			sameExplanation(t, f, o, barreltest.Request(t, request, lex), request)
		}
		if !r.lags && !targeted {
			barreltest.SameWanted(t, f, o, oracletest.DrawRequest(t, w), lex, 100)
		}
	})
}

// sameExplanation compares which keywords match, their order, and the deciding values.
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
