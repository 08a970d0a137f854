package fanout

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/internal/node/overload"
	"adshard/internal/node/shardserver"
	"adshard/schema/pb"
	"adshard/search"
)

func since(t *testing.T, f *Fanout, clock uint64) (*search.Answer, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return f.Search(ctx, &search.Request{Query: new(search.Query), Slots: 3, Tags: search.Tags{Least: search.Position{Clock: clock}}})
}

// TestALeastPosition: a replica that is behind is replaced by another one without being ejected. If no replica is at the required
// position, the query fails and says so. The answer of a slave that does not know positions is not used.
func TestALeastPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, now, honest := serves(search.WholeRing(), 1), serves(search.WholeRing(), 2), &scripted{err: fault.Newf(fault.Behind, "", "at clock 5")}
		old.answer.AppliedClock, now.answer.AppliedClock = 5, 9
		late := &scripted{after: time.Hour}
		for name, c := range map[string]struct {
			slaves  []Slave
			matched uint64 // 0 if it fails
		}{
			"another has it":           {[]Slave{Concurrent(honest), Concurrent(now)}, 2},
			"the first does not know":  {[]Slave{Concurrent(old), Concurrent(now)}, 2},
			"none has it":              {[]Slave{Concurrent(honest), Concurrent(honest)}, 0},
			"none has it, none knows":  {[]Slave{Concurrent(old), Concurrent(old)}, 0},
			"no time for another":      {[]Slave{Concurrent(honest), Concurrent(late)}, 0},
			"the only one has it":      {[]Slave{Concurrent(now)}, 2},
			"the only one is behind":   {[]Slave{Concurrent(honest)}, 0},
			"the only one is ignorant": {[]Slave{Concurrent(old)}, 0},
		} {
			m := replicated(c.slaves...).first(0)
			f := New(&listedMaps{list: []*Map{m}}, nil)
			for range 5 {
				a, err := since(t, f, 9)
				if c.matched == 0 && !fault.Is(err, fault.Behind) || c.matched > 0 && (err != nil || a.Matched != c.matched || len(a.Missing) > 0) {
					t.Errorf("%s: %+v, %v", name, a, err)
				}
			}
			for _, r := range m.Shards[0].Replicas {
				if !r.Known.In() {
					t.Errorf("%s: %s is ejected", name, r.Name)
				}
			}
		}
	})
}

// TestALaggingReplica: if an answer is based on data more than a second old, another replica is asked. If all lag behind, the
// newest answer counts and says how old it is.
func TestALaggingReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late, later, fresh := serves(search.WholeRing(), 1), serves(search.WholeRing(), 2), serves(search.WholeRing(), 3)
		late.answer.Lag, later.answer.Lag, fresh.answer.Lag = 2*time.Second, 3*time.Second, time.Second
		for name, c := range map[string]struct {
			first, second *scripted
			want          uint64
		}{
			"another one does not": {late, fresh, 3}, "all lag": {later, late, 1}, "the other one more": {late, later, 1}, "not much": {fresh, late, 3},
		} {
			m := replicated(Concurrent(c.first), Concurrent(c.second)).first(0)
			before := c.second.times()
			a, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
			if asked := c.second.times() > before; asked != (c.first != fresh) {
				t.Errorf("%s: the second one is asked: %v", name, asked)
			}
			if err != nil || a.Matched != c.want || len(a.Missing) > 0 || a.Lag != map[uint64]time.Duration{1: 2 * time.Second, 3: time.Second}[c.want] {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		}
	})
}

// carried is a slave's store that records what requests carry.
type carried struct {
	ads
	mu    sync.Mutex
	least []uint64
	hedge []bool
}

func (c *carried) Position() *pb.Position { return &pb.Position{Clock: 7, Mark: 5} }

func (c *carried) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.least, c.hedge = append(c.least, r.Least.Mark), append(c.hedge, r.Hedge)
	return c.ads.Search(ctx, r)
}

// TestWhatSearchesCarry: however a slave is reached, it learns whether a search is a hedge and how new its data must be.
func TestWhatSearchesCarry(t *testing.T) {
	store := new(carried)
	slave, stop, hangUp := serve(t, "remote", "remote", store, kept{})
	carry(t, "over a stream", slave, store)
	hangUp()
	stop()
	store = new(carried)
	server := shardserver.New(shardserver.Identity{Name: "local"}, store, kept{}, overload.New(overload.Config{Most: 64, Least: 64, Start: 64}), nil, nil)
	defer server.Close()
	dial := Within(func(string) Local { return server.Local() }, streams())
	slave, _, err := dial(Target{Shard: "local", ID: 7})
	if err != nil {
		t.Fatal(err)
	}
	carry(t, "in the process", slave, store)
}

func carry(t *testing.T, name string, s Slave, store *carried) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := &search.Request{Query: new(search.Query), Profile: search.DefaultProfile(), Slots: 1}
	if _, err := Ask(ctx, s, r); err != nil {
		t.Fatal(name, err)
	}
	r.Tags = search.Tags{Hedge: true, Least: search.Position{Clock: 7, Mark: 5}}
	if _, err := Ask(ctx, s, r); err != nil {
		t.Fatal(name, err)
	}
	if len(store.hedge) != 2 || store.hedge[0] || !store.hedge[1] || store.least[0] != 0 || store.least[1] != 5 {
		t.Errorf("%s: hedges %v, marks %v", name, store.hedge, store.least)
	}
	r.Least.Mark = 6
	if _, err := Ask(ctx, s, r); !fault.Is(err, fault.Conflict) {
		t.Errorf("%s: a change of another history: %v", name, err)
	}
}
