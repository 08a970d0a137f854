package balancer

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/node/control/etcdtest"
	"adshard/internal/node/health"
	"adshard/internal/node/identity"
	"adshard/internal/node/metrics"
	"adshard/internal/node/porttest"
	"adshard/schema/pb"
)

// ailing is a database that refuses writes or reads slowly.
type ailing struct {
	backend.Store
	readOnly atomic.Bool
	slow     time.Duration
}

func (a *ailing) SaveControlIf(ctx context.Context, key string, value []byte, guard string, was []byte) error {
	if a.readOnly.Load() {
		return fault.Newf(fault.NoSpace, "ailing", "the disk is full")
	}
	return a.Store.SaveControlIf(ctx, key, value, guard, was)
}

func (a *ailing) Snapshot(ctx context.Context) (backend.Snapshot, error) {
	time.Sleep(a.slow)
	return a.Store.Snapshot(ctx)
}

// standBy starts a host that is a standby while it does not lead.
func (r *rig) standBy(db backend.Store) (h *Host, stop func()) {
	r.T.Helper()
	h, ended, cancel := r.candidate(db)
	stop = sync.OnceFunc(func() {
		cancel()
		r.Must(<-ended)
	})
	r.T.Cleanup(stop)
	return h, stop
}

// candidate starts a host that is a standby while it does not lead. It runs until `cancel` is called;
// `ended` then receives its error.
func (r *rig) candidate(db backend.Store) (h *Host, ended chan error, cancel func()) {
	r.T.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	r.Must(err)
	h, closeStore := r.newHost(db, listener.Addr().String())
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan error, 1)
	go func() {
		err := h.Serve(ctx, listener)
		closeStore()
		ended <- err
	}()
	return h, ended, cancel
}

// newHost returns a host with an address. It does not run yet.
func (r *rig) newHost(db backend.Store, address string) (h *Host, closeStore func()) {
	r.T.Helper()
	cfg := r.cfg
	cfg.Advertise = address
	order, err := cfg.prepare(r.T.Context(), db)
	r.Must(err)
	store, closeControl, err := cfg.openControl(db, order)
	r.Must(err)
	return newHost(cfg, order, db, store, "http://admin", r.log), func() { _ = closeControl() }
}

// leads returns the epoch of a host that leads, or 0 if it does not lead.
func leads(t *testing.T, h *Host) uint64 {
	reply, err := h.Lead(t.Context(), &pb.LeadRequest{})
	if err != nil && !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	return reply.GetEpoch()
}

// leadsSince returns since when a host leads by its metrics, in seconds since 1970, or 0.
func leadsSince(t *testing.T, h *Host) float64 {
	registry := metrics.NewRegistry()
	RegisterMetrics(registry, h)
	families, err := registry.Gather()
	if err != nil {
		t.Error(err)
	}
	for _, f := range families {
		if f.GetName() == "adshard_balancer_leads_since_seconds" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return 0
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}

// TestALeaderThatCannotRenewStops: a leader that cannot renew its lease stops answering as leader. It
// continues in the same term if no other balancer has taken the lease.
func TestALeaderThatCannotRenewStops(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	db := &ailing{Store: r.DB}
	h, _ := r.standBy(db)
	within(t, "it leads", func() bool { return leads(t, h) == 1 })
	db.readOnly.Store(true)
	within(t, "it stops", func() bool { return leads(t, h) == 0 })
	if _, err := h.WatchMap(t.Context(), &pb.WatchMapRequest{}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("it hands out a map: %v", err)
	}
	if why := h.refusal(); why == nil {
		t.Error("its admin port changes things")
	}
	if why := h.Ready(); len(why) == 0 {
		t.Error("it is ready")
	}
	db.readOnly.Store(false)
	within(t, "it goes on", func() bool { return leads(t, h) == 1 })
}

// TestAnotherLeadsWhenOneCannotRenew: the first leader stops before the second one leads, and becomes its
// standby.
func TestAnotherLeadsWhenOneCannotRenew(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.Write(4, 2, 2, 1_000_000)
	db := &ailing{Store: r.DB}
	first, _ := r.standBy(db)
	within(t, "the first leads", func() bool { return leads(t, first) == 1 })
	second, _ := r.standBy(r.DB)
	within(t, "the second is warm", func() bool { return len(second.Ready()) == 0 })
	if e, at := leads(t, second), leadsSince(t, second); e != 0 || at != 0 {
		t.Fatalf("the second leads with epoch %d, since %g", e, at)
	}
	waited := float64(time.Now().UnixMilli()) / 1000
	r.Write(4, 3, 2, 1_000_000) // the standby follows
	db.readOnly.Store(true)
	within(t, "the second leads", func() bool {
		a, b := leads(t, first), leads(t, second)
		if a != 0 && b != 0 && leads(t, first) != 0 {
			t.Fatalf("two lead, with epochs %d and %d", a, b)
		}
		return b == 2
	})
	if at := leadsSince(t, second); at < waited {
		t.Errorf("the second leads since %.1f s before that", waited-at)
	}
	within(t, "the second has all items", func() bool { return second.last.Load().Status().Items == 12 })
	within(t, "the first stands by", func() bool { s := first.standby.Load(); return s != nil && s.leader.Load() != nil })
	db.readOnly.Store(false)
	within(t, "the first is warm", func() bool { return len(first.Ready()) == 0 })
	if e := leads(t, second); e != 2 {
		t.Errorf("the second has lost its lease: %d", e)
	}
}

// TestALeaderThatLoadsKeepsItsLease: a leader keeps its lease while it loads its data, even if that takes
// longer than a lease.
func TestALeaderThatLoadsKeepsItsLease(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	slow := &ailing{Store: r.DB, slow: control.DefaultTimes().Lease * 3 / 2}
	first, _ := r.standBy(slow)
	within(t, "the first has begun its term", func() bool { l, err := first.store.Leader(t.Context()); return err == nil && l.Epoch == 1 })
	second, _ := r.standBy(r.DB)
	within(t, "the first leads", func() bool { return leads(t, first) == 1 })
	if e := leads(t, second); e != 0 {
		t.Errorf("the second leads with epoch %d", e)
	}
}

func startEtcd(t *testing.T) *etcdtest.Cluster {
	t.Helper()
	etcd, err := etcdtest.New(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := etcd.Remove(); err != nil {
			t.Error(err)
		}
	})
	return etcd
}

// TestControlIsSetOnOneBalancerAtATime: when `control` is set on one balancer after the other, the first
// one with etcd leads. The leader without etcd stops, says why, and does not begin another term.
func TestControlIsSetOnOneBalancerAtATime(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.Write(4, 2, 2, 1_000_000)
	leader, ended, cancel := r.candidate(r.DB)
	defer cancel()
	within(t, "it leads", func() bool { return leads(t, leader) == 1 })
	r.cfg.Control = startEtcd(t).URL()
	moved, _ := r.standBy(r.DB)
	within(t, "the one with etcd leads", func() bool { return leads(t, moved) > 0 })
	if err := <-ended; !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "set control") {
		t.Errorf("the leader ends with %v", err)
	}
	if epoch, address, err := control.Epoch(t.Context(), r.DB, r.cfg.StateKey); err != nil || epoch != 2 || address != moved.me.Address {
		t.Errorf("%s leads with epoch %d, %v", address, epoch, err)
	}
}

// TestAStandbyWithoutEtcdDoesNotWait: a standby without etcd does not wait for a lease once the state is
// in etcd.
func TestAStandbyWithoutEtcdDoesNotWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	late, _ := r.newHost(r.DB, porttest.Address(t))
	term, err := late.store.TakeOver(t.Context(), control.Candidate{Address: porttest.Address(t)})
	r.Must(err)
	kept, stop := context.WithTimeout(t.Context(), 20*time.Second)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	parts.Go(func() { _ = term.KeepAlive(kept, func(error) {}) })
	r.Must(noteOutside(t.Context(), r.DB, r.cfg.StateKey+identity.OrderKey, late.order))
	if _, err := late.wait(kept, late.newStandby(health.New())); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
}

// TestATermWithoutEtcdThatBeganLate: a term without etcd that began after the state was moved decides
// nothing.
func TestATermWithoutEtcdThatBeganLate(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	late, closeStore := r.newHost(r.DB, porttest.Address(t))
	defer closeStore()
	r.cfg.Control = startEtcd(t).URL()
	moved, stop := r.standBy(r.DB)
	within(t, "the one with etcd leads", func() bool { return leads(t, moved) > 0 })
	stop()
	term, err := late.store.TakeOver(t.Context(), late.me)
	r.Must(err)
	if _, err := late.lead(t.Context(), term, nil, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("it leads: %v", err)
	}
	if text, err := term.Load(t.Context(), timelineKey); err != nil || len(text) > 0 {
		t.Errorf("it has saved timeline %q, %v", text, err)
	}
}

// TestControlMovesToEtcd: a cluster whose state is in the database continues with the state in etcd, and
// cannot continue without etcd afterwards. A cluster of another database cannot use that state.
func TestControlMovesToEtcd(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t)
	r := newRig(t, 1)
	r.Write(4, 2, 2, 1_000_000)
	r.start()
	r.slave("a")
	r.eventually("filled", r.whole)
	r.stopSlave("a")
	view, timeline := r.b.Status().View, r.b.data.Timeline
	r.stop()

	r.cfg.Control = etcd.URL()
	for epoch := uint64(2); epoch < 4; epoch++ {
		h, stop := r.standBy(r.DB)
		within(t, "it leads", func() bool { return leads(t, h) == epoch })
		if b := h.last.Load(); b.Status().View != view || b.data.Timeline != timeline {
			t.Errorf("it has view %d of %q, not %d of %q", b.Status().View, b.data.Timeline, view, timeline)
		}
		stop()
	}
	r.cfg.Control = ""
	if _, err := New(t.Context(), r.cfg, r.DB, r.log); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "etcd") {
		t.Errorf("without etcd: %v", err)
	}

	other := newRig(t, 1)
	other.cfg.Control = etcd.URL()
	h, closeStore := other.newHost(other.DB, other.cfg.Advertise)
	defer closeStore()
	if _, err := h.stand(t.Context()); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "of database") {
		t.Errorf("with another database: %v", err)
	}
}

// TestModelOfAnotherHistory: when the database was restored while etcd was not, moves in progress are
// cancelled and a new timeline begins.
func TestModelOfAnotherHistory(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.Write(4, 2, 2, 1_000_000)
	r.start()
	r.slave("a")
	r.eventually("filled", r.whole)
	r.stopSlave("a")
	r.Must(r.b.noteDatabase(t.Context()))
	state, err := r.b.leadership.model(t.Context())
	r.Must(err)
	timeline := func() string {
		text, err := r.b.leadership.Load(t.Context(), timelineKey)
		r.Must(err)
		return string(text)
	}
	before := timeline()
	if _, err := r.b.settle(t.Context(), state); err != nil || timeline() != before {
		t.Errorf("of this history: %v, timeline %q after %q", err, timeline(), before)
	}
	at, err := r.DB.Newest(t.Context())
	r.Must(err)
	text := fmt.Sprintf(`{"database":%q,"clock":%d,"mark":%d}`, r.b.data.Database, at.Clock, at.Mark+1)
	r.Must(r.b.leadership.Save(t.Context(), ofKey, []byte(text)))
	if _, err := r.b.settle(t.Context(), state); err != nil || timeline() == before {
		t.Errorf("of another history: %v, timeline %q", err, timeline())
	}
	r.stop()
}
