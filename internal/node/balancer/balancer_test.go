package balancer

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/backend"
	"adshard/balance"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/fault"
	"adshard/internal/node/nodetest"
	"adshard/internal/node/porttest"
	"adshard/internal/node/remote"
	"adshard/internal/node/wire"
	"adshard/loadproxy"
	"adshard/schema/pb"
	"adshard/search"
)

// rig is a database, a balancer on loopback and slaves with memory stores.
type rig struct {
	*nodetest.Database
	cfg    Config
	b      *Balancer // the first one since start
	host   *Host     // runs b and the balancers that replace it
	addr   string
	log    *slog.Logger
	stop   func()
	slaves map[string]*slaveRig
}

type slaveRig struct {
	store barrels.Store
	stop  func()
	proxy *loadproxy.Proxy
}

func newRig(t testing.TB, slaves int) *rig {
	t.Helper()
	r := &rig{Database: nodetest.NewDatabase(t), addr: porttest.Address(t), log: slog.New(slog.DiscardHandler), slaves: make(map[string]*slaveRig)}
	r.cfg = DefaultConfig()
	r.cfg.DB, r.cfg.Slaves, r.cfg.Listen = r.URL(), slaves, "127.0.0.1:0"
	r.cfg.BucketBytes = 16 << 10
	t.Cleanup(func() {
		for name := range r.slaves {
			r.stopSlave(name)
		}
		if r.stop != nil {
			r.stop()
		}
	})
	return r
}

// start starts a balancer, on the same address as the previous one.
func (r *rig) start() {
	r.T.Helper()
	listener, err := net.Listen("tcp", r.addr)
	r.Must(err)
	b, err := New(r.T.Context(), r.cfg, r.DB, r.log)
	r.Must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	r.b, r.host = b, NewHost(b)
	go func() { done <- r.host.Serve(ctx, listener) }()
	r.stop = func() {
		cancel()
		if err := <-done; err != nil {
			r.T.Error(err)
		}
		r.stop = nil
	}
}

// slave starts a slave. A slave that was stopped before keeps its store.
func (r *rig) slave(name string) barrels.Store {
	r.T.Helper()
	s, ok := r.slaves[name]
	if !ok {
		s = &slaveRig{store: barreltest.InMemory(r.T, name)}
		r.slaves[name] = s
	}
	conn, err := wire.Dial(r.addr)
	r.Must(err)
	cfg := loadproxy.Default(name, name+".example:1")
	cfg.Incarnation = rand.Text()
	p, err := loadproxy.New(cfg, s.store, remote.Balancer{Conn: conn}, slog.New(slog.DiscardHandler))
	r.Must(err)
	s.proxy = p
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	s.stop = func() {
		cancel()
		<-done
		conn.Close()
		s.stop = nil
	}
	return s.store
}

func (r *rig) stopSlave(name string) {
	if s := r.slaves[name]; s.stop != nil {
		s.stop()
	}
}

// eventually waits until ok returns true.
func (r *rig) eventually(what string, ok func() bool) {
	r.T.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	r.T.Fatalf("not within a minute: %s; balancer: %+v; slaves: %+v", what, r.b.Status(), r.b.SlavesList())
}

// groups returns the number of groups on all slaves.
func (r *rig) groups() (sum uint64) {
	for _, s := range r.slaves {
		sum += s.store.Stats().Groups
	}
	return sum
}

// whole reports whether the slaves serve the whole ring at the clock of the database, or a newer one.
func (r *rig) whole() bool {
	newest, err := r.DB.Newest(r.T.Context())
	r.Must(err)
	var width search.Width
	for _, s := range r.slaves {
		a, err := s.store.Search(r.T.Context(), r.request())
		r.Must(err)
		if a.AppliedClock < newest.Clock {
			return false
		}
		width = width.Add(a.Width)
	}
	return width == search.WholeRing()
}

func (r *rig) request() *search.Request {
	q, err := search.Expand("word1 usb1 cable", search.Synonym, nil)
	r.Must(err)
	return &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 20, Reserve: 10_000, ExactCounts: true}
}

// candidates returns the number of candidates on all slaves.
func (r *rig) candidates() (sum uint64) {
	for _, s := range r.slaves {
		a, err := s.store.Search(r.T.Context(), r.request())
		r.Must(err)
		sum += a.Candidates
	}
	return sum
}

func TestBalancerFillsAndFollows(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	r := newRig(t, 3)
	defer func() {
		for name := range r.slaves {
			r.stopSlave(name)
		}
		r.stop()
		r.DB.Close()
	}()
	r.Write(20, 5, 4, 1_000_000)
	r.start()
	for i := range 3 {
		r.slave(fmt.Sprint("slave-", i))
	}
	r.eventually("filled", r.whole)
	if got := r.groups(); got != 100 {
		t.Fatalf("%d groups are held, 100 are there", got)
	}
	if got := r.candidates(); got != 20 {
		t.Fatalf("%d candidates, wanted 20", got)
	}
	for _, s := range r.b.SlavesList() {
		if !s.Registered || s.Slices == 0 || s.Width == 0 || s.Weight < 0.2 {
			t.Errorf("slave %+v", s)
		}
	}

	begin := time.Now()
	if _, err := r.b.SetBudget(t.Context(), 3, backend.BudgetMark{Exhausted: true}); err != nil {
		t.Fatal(err)
	}
	r.eventually("budget exhausted", func() bool { return r.candidates() == 19 })
	t.Logf("an exhausted budget was in the answers after %v", time.Since(begin))
	if _, err := r.b.SetBudget(t.Context(), 3, backend.BudgetMark{Exhausted: false}); err != nil {
		t.Fatal(err)
	}
	r.eventually("budget back", func() bool { return r.candidates() == 20 })
	if _, err := r.b.SetBudget(t.Context(), 999, backend.BudgetMark{Exhausted: true}); !fault.Is(err, fault.NotFound) {
		t.Errorf("budget of a campaign that is not there: %v", err)
	}

	r.Write(25, 6, 4, 2_000_000) // 5 new advertisers, 20 × 1 and 5 × 6 new groups
	r.eventually("followed", func() bool { return r.groups() == 150 && r.whole() })
}

func TestBalancerRestartMidFill(t *testing.T) {
	r := newRig(t, 2)
	r.Write(40, 10, 5, 1_000_000)
	r.start()
	r.slave("a")
	r.slave("b")
	r.eventually("filling", func() bool { return r.groups() > 20 })
	r.stop()
	held := r.groups()
	r.Write(10, 10, 6, 1_500_000)
	r.start()
	if r.b.Epoch() != 2 {
		t.Fatalf("epoch %d after a restart", r.b.Epoch())
	}
	r.stopSlave("a")
	r.eventually("b is filled", func() bool { return r.b.SlavesList()[1].Behind == 0 })
	r.slave("a")
	r.eventually("filled", r.whole)
	if got := r.groups(); got != 400 || held > 400 {
		t.Fatalf("%d groups are held, 400 are there", got)
	}
}

func TestBalancerRefillsAnEmptySlave(t *testing.T) {
	r := newRig(t, 2)
	r.Write(10, 5, 3, 1_000_000)
	r.start()
	r.slave("a")
	r.slave("b")
	r.eventually("filled", r.whole)
	r.stopSlave("a")
	delete(r.slaves, "a")
	r.Write(10, 5, 3, 3_000_000)
	r.slave("a")
	r.eventually("refilled", func() bool { return r.groups() == 50 && r.whole() })
}

func TestSecondBalancerStopsTheFirst(t *testing.T) {
	r := newRig(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first, err := New(ctx, r.cfg, r.DB, slog.New(slog.DiscardHandler))
	r.Must(err)
	done := make(chan error, 1)
	go func() { done <- first.Run(ctx) }()
	if _, err := New(ctx, r.cfg, r.DB, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if !fault.Is(err, fault.Conflict) {
			t.Fatalf("the older balancer ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the older balancer goes on")
	}
}

func TestBalancerWatchMap(t *testing.T) {
	r := newRig(t, 2)
	r.start()
	conn, err := wire.Dial(r.addr)
	r.Must(err)
	defer conn.Close()
	c := pb.NewBalancerClient(conn)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	none, err := c.WatchMap(ctx, &pb.WatchMapRequest{WaitMs: 10})
	if err != nil || len(none.Shards) != 0 {
		t.Fatalf("map before the plan: %v, %v", none, err)
	}
	r.slave("a")
	r.slave("b")
	got, err := c.WatchMap(ctx, &pb.WatchMapRequest{WaitMs: 9000})
	if err != nil || len(got.Shards) != 2 || got.View != 1 || got.Epoch != 1 || got.Shards[0].Replicas[0].Address != "a.example:1" {
		t.Fatalf("map: %v, %v", got, err)
	}
	same, err := c.WatchMap(ctx, &pb.WatchMapRequest{Epoch: 1, View: 1, Filled: true, WaitMs: 20})
	if err != nil || len(same.Shards) != 0 {
		t.Fatalf("same map again: %v, %v", same, err)
	}
	filled, err := c.WatchMap(ctx, &pb.WatchMapRequest{Epoch: 1, View: 1, WaitMs: 9000})
	if err != nil || len(filled.Shards) != 2 || !filled.Filled {
		t.Fatalf("a master that does not know that the first fill is over: %v, %v", filled, err)
	}
	if _, err := pb.NewDistributorClient(conn).Pull(ctx, &pb.PullRequest{Name: "nobody", Epoch: 1}); !fault.Is(err, fault.Stale) {
		t.Fatalf("pull of an unknown slave: %v", err)
	}
}

func TestBalancerRefusesAnotherOrder(t *testing.T) {
	r := newRig(t, 1)
	r.start()
	r.slave("a")
	r.eventually("planned", func() bool { return r.b.Status().View == 1 })
	r.stopSlave("a")
	r.stop()
	r.cfg.Order = balance.ByOwner.String()
	_, err := New(t.Context(), r.cfg, r.DB, slog.New(slog.DiscardHandler))
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "--order hash") {
		t.Fatalf("another order was taken, or what to do is not said: %v", err)
	}
}

// TestOrderOfACluster: a new cluster has the configured order or the default, and keeps it even if the
// default changes later.
func TestOrderOfACluster(t *testing.T) {
	for configured, want := range map[string]balance.Order{"": balance.ByHash, "hash": balance.ByHash, "advertiser": balance.ByOwner, "id": balance.ByID} {
		r := newRig(t, 1)
		r.cfg.Order = configured
		r.start()
		if r.b.order != want {
			t.Errorf("a new cluster with the order %q has %s", configured, r.b.order)
		}
		r.slave("a")
		r.eventually("planned", func() bool { return r.b.Status().View == 1 })
		r.stopSlave("a")
		r.stop()
		r.cfg.Order = ""
		r.start()
		if r.b.order != want {
			t.Errorf("a cluster in the order %s goes on in %s", want, r.b.order)
		}
		r.stop()
	}
}

// TestOriginalNeedsWholeAdvertisers: the strategy original is refused at the start and as a command,
// unless advertisers are kept whole.
func TestOriginalNeedsWholeAdvertisers(t *testing.T) {
	r := newRig(t, 1)
	r.cfg.Strategy = "original"
	_, err := New(t.Context(), r.cfg, r.DB, slog.New(slog.DiscardHandler))
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "--order advertiser") {
		t.Errorf("original in the default order: %v", err)
	}
	r.cfg.Order = "hash"
	if err := r.cfg.Validate(); err == nil || !strings.Contains(err.Error(), "--order advertiser") {
		t.Errorf("original in the order hash: %v", err)
	}
	r.cfg.Strategy = "random"
	r.start()
	if _, err := (adminControl{r.b}).BalanceStrategy(t.Context(), "nonsense", nil); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "weighted-move") {
		t.Errorf("a strategy that does not exist: %v", err)
	}
	if _, err := (adminControl{r.b}).BalanceStrategy(t.Context(), "original", nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("original by command: %v", err)
	}
	r.stop()
	r.cfg.Strategy, r.cfg.Order = "original", "advertiser"
	r.start()
}
