package slave

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/overload"
	"adshard/internal/node/ports"
)

// running starts a slave without a balancer; fill may fill its store before.
func running(t *testing.T, name string, fill func(barrels.Store)) (*Slave, barrels.Store) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Name, cfg.Dir, cfg.Listen, cfg.Admin, cfg.Balancer, cfg.Grace = name, filepath.Join(t.TempDir(), name), "127.0.0.1:0", "", "", 0
	port, err := ports.Open("")
	if err != nil {
		t.Fatal(err)
	}
	store, err := OpenStore(&cfg, memlimit.Plan{Cache: 8 << 20, Buffers: 8 << 20, Data: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	fill(store)
	s, err := New(cfg, store, overload.New(overload.ForSlave(cfg.MaxInFlight)), port, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		port.Close()
		_ = store.Close()
	})
	return s, store
}

// TestARunningSlaveIsFilledByCopy: it has the other's data and position, and its own name.
func TestARunningSlaveIsFilledByCopy(t *testing.T) {
	world := barreltest.NewBuilder(t, barreltest.Small(60, "usb cable", "red shoes")).All()
	apply := func(s barrels.Store, clock uint64) {
		t.Helper()
		if err := s.Apply(t.Context(), world); err != nil {
			t.Fatal(err)
		}
		for at := s.Position().Clock + 1; at <= clock; at++ {
			if err := s.Apply(t.Context(), barreltest.Bulky(world, at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	source, _ := running(t, "slave-0", func(s barrels.Store) { apply(s, 7) })
	target, store := running(t, "slave-1", func(s barrels.Store) { apply(s, 2) })
	for source.proxy.Lacking() != "" {
		time.Sleep(time.Millisecond)
	}
	if err := target.CopyFrom(t.Context(), source.Address(), "another"); !fault.Is(err, fault.Conflict) {
		t.Fatalf("data of another database: %v", err)
	}
	if at := store.Position().Clock; at != 2 {
		t.Fatalf("at %d after a copy that was refused", at)
	}
	if err := target.CopyFrom(t.Context(), source.Address(), ""); err != nil {
		t.Fatal(err)
	}
	if at := store.Position(); at.Clock != 7 || store.Stats().Groups != 60 {
		t.Fatalf("at %v with %+v", at, store.Stats())
	}
	if target.State().CaughtUp {
		t.Error("it serves before a balancer has said what")
	}
	if _, err := os.Stat(rocks.Incoming(target.cfg.Dir)); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}
