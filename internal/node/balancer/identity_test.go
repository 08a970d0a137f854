package balancer

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/fanout"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/nodetest"
	"adshard/internal/node/porttest"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// askFor asks continuously for a while.
func (w *world) askFor(d time.Duration) *asked {
	end := w.ask()
	time.Sleep(d)
	return end()
}

// lost returns how many of n groups the slaves have lost.
func (w *world) lost(n uint64) uint64 { return n - min(n, w.groups()) }

// TestABalancerOnAnotherDatabaseChangesNothing: slaves and masters refuse it and continue with what
// they have. The messages name both ids.
func TestABalancerOnAnotherDatabaseChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	held := w.groups()
	id, err := w.DB.ID(t.Context())
	w.Must(err)
	end := w.ask()
	w.stop()
	w.Reopen(func(path string) { w.Must(os.Remove(path)) })
	w.Write(7, 3, 2, 3_000_000) // an import makes another database
	other, err := w.DB.ID(t.Context())
	w.Must(err)
	w.start()
	w.eventually("refused", func() bool {
		return w.nodes["slave-0"].s.State().Refused && w.nodes["slave-1"].s.State().Refused
	})
	w.eventually("both databases are named", func() bool {
		for _, text := range []string{w.nodes["slave-0"].s.State().Trouble, fmt.Sprint(w.watcher.Trouble())} {
			if !strings.Contains(text, id) || !strings.Contains(text, other) {
				return false
			}
		}
		return true
	})
	time.Sleep(300 * time.Millisecond) // a refill would have begun by now
	got := end()
	got.all(t)
	if lost := w.lost(held); lost > 0 {
		t.Errorf("%d groups were lost", lost)
	}
	if why := w.nodes["slave-0"].s.Ready(); len(why) == 0 {
		t.Error("a slave that is refused is ready")
	}
	// Once they may discard their data, the slaves follow the other database.
	w.stop()
	w.cfg.DiscardDataOf = []string{id}
	w.start()
	w.eventually("filled anew", func() bool { return w.groups() == 21 })
}

// TestADistributorOnAnotherDatabaseIsRefused: the balancer refuses it, and so do slaves.
func TestADistributorOnAnotherDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	other := newRig(t, 1)
	other.cfg.Distribute = false
	other.Write(5, 2, 2, 2_000_000)
	other.start()
	d, _ := other.distribute("wrong")
	own, err := w.DB.ID(t.Context())
	w.Must(err)
	foreign, err := other.DB.ID(t.Context())
	w.Must(err)
	end := w.ask()
	_, err = pb.NewBalancerClient(w.stranger()).Quanta(shortly(t), &pb.QuantaRequest{Name: "wrong", Address: "127.0.0.1:1", Database: foreign})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), own) || !strings.Contains(err.Error(), foreign) {
		t.Errorf("the balancer says %v", err)
	}
	keys := balance.ByHash
	if w.b.order == keys {
		keys = balance.ByOwner
	}
	_, err = pb.NewBalancerClient(w.stranger()).Quanta(shortly(t), &pb.QuantaRequest{Name: "wrong", Address: "127.0.0.1:1", Database: own, Order: keys.String()})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "order: "+w.b.order.String()) {
		t.Errorf("to a distributor with other keys the balancer says %v", err)
	}
	// Even if a balancer named it, no slave would take its data.
	conn, err := wire.Dial(d.Address())
	w.Must(err)
	defer conn.Close()
	store := w.slaves["slave-0"].store
	w.eventually("the distributor follows its balancer", func() bool {
		_, err = pb.NewDistributorClient(conn).Enlist(shortly(t), &pb.RegisterRequest{Name: "slave-0", Address: "127.0.0.1:1",
			Position: store.Position(), Slices: store.Slices()})
		return !fault.Is(err, fault.Unavailable)
	})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("the distributor says %v", err)
	}
	bucket := &pb.NodeData{From: store.Position(), To: store.Position(), Database: foreign}
	if err := store.Apply(t.Context(), bucket); !fault.Is(err, fault.Conflict) {
		t.Errorf("the store says %v", err)
	}
	w.eventually("answers", w.complete)
	time.Sleep(200 * time.Millisecond) // of questions
	end().all(t)
}

// TestARestoredDatabaseIsFollowed: after a backup, an import, a restore and another import with as many
// changes, the clocks are equal but the data is not. Slaves keep what is equal and refill the rest, and
// no answer mixes the two.
func TestARestoredDatabaseIsFollowed(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"slaves run": true, "slaves are stopped": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2, nil)
			w.stop()
			copied := w.Backup()
			w.start()
			w.Write(3, 4, 4, 5_000_000) // import A
			w.eventually("A is followed", w.followed)
			if !running {
				w.nodes["slave-0"].stop()
				w.nodes["slave-1"].stop()
			}
			newest, err := w.DB.Newest(t.Context())
			w.Must(err)
			w.stop()
			w.Restore(copied)
			w.Write(3, 4, 4, 7_000_000) // import B
			again, err := w.DB.Newest(t.Context())
			w.Must(err)
			if again.Clock != newest.Clock || again.Mark == newest.Mark {
				t.Fatalf("the histories are at %v and %v", newest, again)
			}
			items := w.applied(running)
			w.start()
			if !running {
				w.begin(w.nodes["slave-0"])
				w.begin(w.nodes["slave-1"])
			}
			w.eventually("B is followed", w.followed)
			w.eventually("complete", w.complete)
			w.judge()
			w.askFor(200 * time.Millisecond).right(t)
			if refilled := w.applied(true) - items; refilled >= 120 {
				t.Errorf("%d groups were sent again of 120, though most were equal", refilled)
			}
		})
	}
}

// applied returns how many groups the slaves have applied, or 0 if they are not running.
func (w *world) applied(running bool) (sum uint64) {
	if !running {
		return 0
	}
	for _, n := range w.nodes {
		sum += n.s.State().Items
	}
	return sum
}

// followed reports whether all slaves are at the database's position.
func (w *world) followed() bool {
	newest, err := w.DB.Newest(w.T.Context())
	w.Must(err)
	for _, s := range w.slaves {
		if at := s.store.Position(); at.GetClock() != newest.Clock || at.GetMark() != newest.Mark || at.GetOffset() != 0 {
			return false
		}
	}
	return true
}

// TestAnEarlierModelBeginsANewTimeline: the database is restored without any change of data, but with
// an earlier map and an earlier epoch.
func TestAnEarlierModelBeginsANewTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	w.stop()
	copied := w.Backup()
	w.start()
	before := w.b.data.Timeline
	w.move(w.on("slave-0")[0], "slave-1")
	w.eventually("moved", w.still)
	for range 3 { // epochs that the backup does not know
		w.stop()
		w.start()
	}
	epoch := w.b.Epoch()
	w.eventually("all know the epoch", func() bool {
		return w.nodes["slave-0"].s.State().Epoch == epoch && w.nodes["slave-1"].s.State().Epoch == epoch
	})
	w.stop()
	w.Restore(copied)
	end := w.ask()
	w.start()
	w.eventually("a new timeline", func() bool {
		b := w.host.now.Load()
		return b != nil && b.data.Timeline != before && b.Epoch() > epoch
	})
	w.eventually("complete under it", func() bool {
		m := w.watcher.Current()
		return m.Timeline != before && w.complete()
	})
	end().right(t)
	if sent := w.groups(); sent != 120 {
		t.Errorf("%d groups are held of 120", sent)
	}
}

// TestStoresFromBeforeMarksAreTakenOver: such stores are taken over once, without a refill.
func TestStoresFromBeforeMarksAreTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	n := w.nodes["slave-0"]
	n.stop()
	at := n.store.Position()
	bare := n.store.Position()
	bare.Mark = 0
	w.Must(n.store.Apply(t.Context(), &pb.NodeData{From: at, To: bare}))
	w.begin(n)
	w.eventually("marked", func() bool { return n.store.Position().GetMark() != 0 })
	w.eventually("complete", w.complete)
	if got := n.s.State().Items; got > 0 {
		t.Errorf("%d groups were sent again", got)
	}
}

// TestTheNameOfASlaveInServiceIsNotTaken: another process cannot register under it, neither from
// another address nor from the slave's own. A slave that is gone leaves its name to the next one.
func TestTheNameOfASlaveInServiceIsNotTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n := w.nodes["slave-0"]
	address := n.s.Address()
	other := porttest.Address(t)
	register := func(at string) error {
		_, err := w.b.Register(soon, &pb.RegisterRequest{Name: "slave-0", Address: at, Incarnation: "another"})
		return err
	}
	end := w.ask()
	for range 3 {
		for _, at := range []string{other, address} {
			if err := register(at); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), address) {
				t.Fatalf("from %s: %v", at, err)
			}
		}
	}
	w.stop()
	w.start() // the next balancer knows the slave only from its model
	if err := register(other); !fault.Is(err, fault.Conflict) {
		t.Errorf("after a restart: %v", err)
	}
	w.eventually("complete", w.complete)
	end().all(t)
	n.stop()
	w.eventually("another one has the name", func() bool { return register(other) == nil })
}

// TestPositionsThatNobodyCanHaveAreRefused: positions that are far beyond the log are refused.
func TestPositionsThatNobodyCanHaveAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	far := &pb.Position{Epoch: 1<<64 - 1, Clock: 1}
	if _, err := w.b.Register(soon, &pb.RegisterRequest{Name: "x", Address: "127.0.0.1:1", Position: far}); !fault.Is(err, fault.Conflict) {
		t.Errorf("registered: %v", err)
	}
	if _, err := w.b.WatchMap(soon, &pb.WatchMapRequest{Master: "m", Epoch: far.Epoch, Database: w.b.data.Database}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a master: %v", err)
	}
	if _, err := w.b.Quanta(soon, &pb.QuantaRequest{Name: "d", Address: "127.0.0.1:1", Clock: 1 << 60, Database: w.b.data.Database, Order: w.b.order.String()}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a distributor: %v", err)
	}
	if w.host.now.Load() != w.b {
		t.Error("another balancer took over")
	}
}

// TestARemovedDatabaseAcknowledgesNothing: a budget mark that has no effect is an error, and the
// balancer is not ready. Both end when the file is back.
func TestARemovedDatabaseAcknowledgesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	end := w.ask()
	away := w.Path + ".away"
	w.Must(os.Rename(w.Path, away))
	w.eventually("not ready", func() bool { return len(w.host.Ready()) > 0 })
	if _, err := w.b.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: true}); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "removed") {
		t.Errorf("a budget mark: %v", err)
	}
	w.Must(os.Rename(away, w.Path))
	w.eventually("ready, though nobody writes", func() bool { return len(w.host.Ready()) == 0 })
	time.Sleep(200 * time.Millisecond) // of questions
	end().all(t)
	if _, err := w.b.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: true}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the mark has arrived", w.followed)
	w.eventually("complete", w.complete)
	w.judge()
}

// TestADatabaseRestoredUnderARunningClusterIsFollowed: a file with another history replaces the
// database while everything is running.
func TestADatabaseRestoredUnderARunningClusterIsFollowed(t *testing.T) {
	if testing.Short() {
		t.Skip("short: restores databases under clusters in many ways")
	}
	t.Parallel()
	w := newWorld(t, 2, nil)
	w.stop()
	copied := w.Backup()
	w.start()
	w.Write(3, 4, 4, 5_000_000) // import A
	w.eventually("A is followed", w.followed)

	path := w.Path + ".restored"
	w.Must(os.WriteFile(path, copied, 0o600))
	restored := nodetest.OpenDatabase(t, path)
	restored.Write(3, 4, 4, 7_000_000) // import B
	w.Must(restored.DB.Close())

	for _, suffix := range []string{"-wal", "-shm"} {
		w.Must(os.Remove(w.Path + suffix))
	}
	w.Must(os.Rename(path, w.Path))
	w.eventually("another balancer", func() bool { b := w.host.now.Load(); return b != nil && b != w.b })
	w.eventually("B is followed", func() bool { return len(w.host.Ready()) == 0 && w.followed() })
	w.eventually("complete", w.complete)
	w.judge()
	w.askFor(200 * time.Millisecond).right(t)
	for bid := range uint64(5) { // later changes are followed as well
		w.Write(30, 4, 4, 8_000_000+bid)
		w.eventually("changes are followed", w.followed)
		w.eventually("complete", w.complete)
		w.judge()
	}
}

// TestAStrangerDoesNotKeepTheBalancerStartingOver: reports of later epochs are believed only a limited
// number of times.
func TestAStrangerDoesNotKeepTheBalancerStartingOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began := map[*Balancer]bool{}
	for range 200 {
		b := w.host.last.Load()
		began[b] = true
		_, err := w.host.WatchMap(ctx, &pb.WatchMapRequest{Master: "x", Database: b.data.Database, Timeline: b.data.Timeline, Epoch: b.Epoch() + 1, View: 1})
		if err == nil && w.host.last.Load() == b { // otherwise the next one has begun meanwhile, with a higher epoch
			t.Fatal("a map was given")
		}
		time.Sleep(5 * time.Millisecond) // the next begins meanwhile
	}
	if len(began) > restartBurst+2 {
		t.Errorf("%d balancers began", len(began))
	}
	w.eventually("complete", w.complete)
}

// TestASlaveDoesNotKeepTheBalancerStartingOver: its reports of epochs, views or applied changes are not
// believed for ever.
func TestASlaveDoesNotKeepTheBalancerStartingOver(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(r *pb.RegisterRequest){
		"views":   func(r *pb.RegisterRequest) { r.Slices.View = 1 << 30 },
		"changes": func(r *pb.RegisterRequest) { r.Position.Mark++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2, nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			n := w.nodes["slave-1"]
			n.stop()
			began := map[*Balancer]bool{}
			for range 100 {
				b := w.host.last.Load()
				began[b] = true
				r := &pb.RegisterRequest{Name: "slave-1", Address: n.s.Address(), Incarnation: "another", Position: n.store.Position(), Slices: n.store.Slices()}
				r.Slices.Timeline = b.data.Timeline
				lie(r)
				if _, err := w.host.Register(ctx, r); err == nil && w.host.last.Load() == b {
					t.Fatal("it is registered")
				}
				time.Sleep(5 * time.Millisecond) // the next begins meanwhile
			}
			if len(began) < 2 || len(began) > restartBurst+2 {
				t.Errorf("%d balancers began", len(began))
			}
		})
	}
}

// oneMap is a source of one map, which does not change.
type oneMap struct{ m *fanout.Map }

func (o oneMap) Current() *fanout.Map { return o.m }
func (o oneMap) Newer(ctx context.Context, _ *fanout.Map) *fanout.Map {
	<-ctx.Done()
	return nil
}

// TestTwoAddressesOfOneSlaveAreNotComplete: what one process serves is counted once.
func TestTwoAddressesOfOneSlaveAreNotComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	m := *w.watcher.Current()
	m.Shards = nil
	for _, s := range w.watcher.Current().Shards {
		slave, hangUp, err := streams(fanout.Target{Shard: s.Name, ID: search.NewShardID(m.Database, m.Timeline, s.Name), Replica: "slave-0", Address: w.nodes["slave-0"].s.Address()})
		w.Must(err)
		defer hangUp()
		m.Shards = append(m.Shards, fanout.NewShard(s.Name, search.Width{}, choice.NewShard(), fanout.NewReplica(s.Name, slave)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := fanout.New(oneMap{&m}, nil).Search(ctx, w.request())
	w.Must(err)
	if len(a.Missing) != 1 || a.Answered != 1 {
		t.Errorf("missing %v, answered %d", a.Missing, a.Answered)
	}
}
