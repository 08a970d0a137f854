package fanout

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

// testSource is a balancer that returns the map that was set last.
type testSource struct {
	mu      sync.Mutex
	reply   *pb.WatchMapResponse
	err     error
	changed chan struct{}
	calls   int
	eager   bool // answers at once, even if the map is already known
}

func newSource() *testSource { return &testSource{changed: make(chan struct{})} }

func (s *testSource) set(epoch, view uint64, err error, shards ...*pb.Shard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply, s.err = &pb.WatchMapResponse{Epoch: epoch, View: view, Shards: shards}, err
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *testSource) WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	until := time.After(time.Duration(r.GetWaitMs()) * time.Millisecond)
	for {
		s.mu.Lock()
		s.calls++
		reply, err, changed, eager := s.reply, s.err, s.changed, s.eager
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if reply != nil && (eager || reply.GetEpoch() != r.GetEpoch() || reply.GetView() != r.GetView()) {
			return reply, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-until:
			return &pb.WatchMapResponse{}, nil
		case <-changed:
		}
	}
}

// links records which connections are open.
type links struct {
	mu   sync.Mutex
	open []string
}

func (l *links) dial(t Target) (Slave, func() error, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.Address == "bad" {
		return nil, nil, errors.New("bad address")
	}
	l.open = append(l.open, t.Address)
	return Concurrent(&part{keywords: []uint64{1}}), func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open = slices.DeleteFunc(l.open, func(a string) bool { return a == t.Address })
		return nil
	}, nil
}

func (l *links) now() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.open))
}

func at(name, address string) *pb.Shard {
	return &pb.Shard{Name: name, Replicas: []*pb.Replica{{Name: name, Address: address}}}
}

func watch(t *testing.T, s *testSource, seeds ...Seed) (*Watcher, *links) {
	t.Helper()
	l := new(links)
	w := NewWatcher("master-0", s, Seeds(seeds), l.dial, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
		w.Close()
		if open := l.now(); len(open) > 0 {
			t.Errorf("left open: %v", open)
		}
	})
	return w, l
}

func TestTheWatcherSwitchesMaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		w, l := watch(t, s)
		synctest.Wait()
		if w.Current() != nil {
			t.Fatal("a map before there is one")
		}
		s.set(1, 1, nil, at("a", "1"), at("b", "2"))
		synctest.Wait()
		first := w.Current()
		if first == nil || first.View != 1 || len(first.Shards) != 2 || !slices.Equal(l.now(), []string{"1", "2"}) {
			t.Fatalf("%+v, open %v", first, l.now())
		}
		// b moves: the connection to a stays, and the old one to b closes when no query can use it
		// any more.
		s.set(1, 2, nil, at("a", "1"), at("b", "3"))
		synctest.Wait()
		second := w.Current()
		if second.View != 2 || !second.Shards[0].same(first.Shards[0]) || second.Shards[1].same(first.Shards[1]) {
			t.Fatalf("%+v after %+v", second, first)
		}
		if !slices.Equal(l.now(), []string{"1", "2", "3"}) {
			t.Fatalf("open %v", l.now())
		}
		time.Sleep(time.Minute)
		if !slices.Equal(l.now(), []string{"1", "3"}) {
			t.Fatalf("open %v", l.now())
		}
	})
}

func TestTheWatcherKeepsTheLastMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		s.set(2, 7, nil, at("a", "1"))
		w, _ := watch(t, s)
		synctest.Wait()
		s.set(0, 0, fault.Newf(fault.Unavailable, "", "nobody there"))
		time.Sleep(time.Minute)
		if w.Current().View != 7 || w.Trouble() == nil {
			t.Fatalf("%+v, trouble %v", w.Current(), w.Trouble())
		}
		// An older balancer does not reset the map; a newer one continues.
		s.set(1, 9, nil, at("a", "2"))
		time.Sleep(time.Minute)
		if m := w.Current(); m.Epoch != 2 || m.View != 7 || !fault.Is(w.Trouble(), fault.Stale) {
			t.Fatalf("%+v, trouble %v", m, w.Trouble())
		}
		s.set(3, 8, nil, at("a", "2"))
		time.Sleep(time.Minute)
		if m := w.Current(); m.Epoch != 3 || m.View != 8 || w.Trouble() != nil {
			t.Fatalf("%+v, trouble %v", m, w.Trouble())
		}
	})
}

// testSeed is a slave that knows a map.
type testSeed struct {
	reply *pb.MapResponse
	err   error
}

func (s testSeed) Map(ctx context.Context) (*pb.MapResponse, error) {
	if s.reply == nil && s.err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.reply, s.err
}

// TestWithoutABalancerSlavesTellTheMap: without a balancer, the map with the lowest view of the
// newest epoch is used, because all slaves can serve it. When a slave no longer serves it, the next
// one is used. A balancer that comes back is trusted again.
func TestWithoutABalancerSlavesTellTheMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := fault.Newf(fault.Unavailable, "", "nobody there")
		s := newSource()
		s.set(0, 0, away)
		known := func(epoch, view uint64, shards ...*pb.Shard) testSeed {
			return testSeed{reply: &pb.MapResponse{Epoch: epoch, View: view, Shards: shards}}
		}
		w, _ := watch(t, s, known(2, 9, at("old", "0")), known(3, 4, at("a", "1"), at("b", "2")), known(3, 3, at("a", "0")),
			known(7, 7), testSeed{err: away}, testSeed{})
		time.Sleep(2 * time.Second)
		m := w.Current()
		if m == nil || m.Epoch != 3 || m.View != 3 || w.Trouble() == nil {
			t.Fatalf("%+v, trouble %v", m, w.Trouble())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // one of the slaves hangs
		defer cancel()
		if m = w.Newer(ctx, m); m == nil || m.Epoch != 3 || m.View != 4 || len(m.Shards) != 2 {
			t.Fatalf("after view 3: %+v", m)
		}
		s.set(4, 4, nil, at("a", "1"), at("b", "3"))
		time.Sleep(2 * time.Second)
		if m = w.Current(); m.Epoch != 4 || w.Trouble() != nil {
			t.Fatalf("%+v, trouble %v", m, w.Trouble())
		}
	})
}

// slowSeed is a slave that takes a while to say what it knows.
type slowSeed struct {
	testSeed
	after time.Duration
}

func (s slowSeed) Map(ctx context.Context) (*pb.MapResponse, error) {
	time.Sleep(s.after)
	return s.testSeed.Map(ctx)
}

// TestASlowSlaveDoesNotTurnTheMapBack: the balancer returns with a newer map while a slave that was
// asked in its place has yet to return an older one.
func TestASlowSlaveDoesNotTurnTheMapBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		s.set(3, 2, nil, at("a", "1"))
		older := testSeed{reply: &pb.MapResponse{Epoch: 3, View: 3, Shards: []*pb.Shard{at("a", "2")}}}
		w, _ := watch(t, s, slowSeed{older, 900 * time.Millisecond})
		synctest.Wait()
		s.set(0, 0, fault.Newf(fault.Unavailable, "", "nobody there"))
		time.Sleep(100 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.AfterFunc(100*time.Millisecond, func() { s.set(3, 5, nil, at("a", "3")) })
		m := w.Newer(ctx, w.Current())
		if m == nil || m.View != 5 {
			t.Fatalf("the balancer's map: %+v", m)
		}
		time.Sleep(time.Second)
		if m := w.Current(); m.View != 5 {
			t.Fatalf("the map is %d/%d again", m.Epoch, m.View)
		}
	})
}

func TestTheWatcherDoesNotAskInALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		s.eager = true
		s.set(1, 1, nil, at("a", "1"))
		watch(t, s)
		time.Sleep(10 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls > 300 {
			t.Fatalf("%d calls in 10 s", s.calls)
		}
	})
}

func TestNewerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		s.set(1, 1, nil, at("a", "1"))
		w, _ := watch(t, s)
		synctest.Wait()
		old := w.Current()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.AfterFunc(500*time.Millisecond, func() { s.set(1, 2, nil, at("a", "1")) })
		if m := w.Newer(ctx, old); m == nil || m.View != 2 {
			t.Fatalf("%+v", m)
		}
		if m := w.Newer(ctx, w.Current()); m != nil {
			t.Fatalf("%+v", m)
		}
	})
}

func TestAShardWithoutAnAddressIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		s.set(1, 1, nil, at("a", "1"), at("b", ""), &pb.Shard{Name: "c"})
		w, _ := watch(t, s)
		synctest.Wait()
		answer, err := ask(t, New(w, nil), time.Second)
		if err != nil || !slices.Equal(names(answer.Missing), []string{"b", "c"}) {
			t.Fatalf("%+v, %v", answer, err)
		}
		s.set(1, 2, nil, at("a", "bad"))
		time.Sleep(time.Second)
		if w.Current().View != 1 || w.Trouble() == nil {
			t.Fatalf("%+v, %v", w.Current(), w.Trouble())
		}
	})
}
