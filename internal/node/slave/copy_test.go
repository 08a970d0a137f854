package slave

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/overload"
	"adshard/internal/node/ports"
	"adshard/schema/pb"
)

// running starts a slave without a balancer; fill may fill its store before.
func running(t *testing.T, name string, fill func(barrels.Store)) (*Slave, barrels.Store) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Name, cfg.Dir, cfg.Listen, cfg.Admin, cfg.Balancer, cfg.Grace = name, filepath.Join(t.TempDir(), name), "127.0.0.1:0", "", "", 0
	port, err := ports.Open(nil, "")
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

// TestARunningSlaveIsFilledByCopy: it has the other's data and position, and its own name
// and instance.
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
	for source.proxy.WhyIncomplete() != "" {
		time.Sleep(time.Millisecond)
	}
	from := func(instance uint64) *pb.Replica {
		return &pb.Replica{Name: "slave-0", Address: source.Address(), Instance: instance}
	}
	own, err := instanceOf(source.cfg.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := target.copier.Copy(t.Context(), from(own), "another"); !fault.Is(err, fault.Conflict) {
		t.Fatalf("data of another database: %v", err)
	}
	if err := target.copier.Copy(t.Context(), from(own+2), ""); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "not the slave that is meant") {
		t.Fatalf("another instance: %v", err)
	}
	if at := store.Position().Clock; at != 2 {
		t.Fatalf("at %d after a copy that was refused", at)
	}
	before, err := instanceOf(target.cfg.Dir)
	if err = errors.Join(err, target.copier.Copy(t.Context(), from(own), ""), store.Reload()); err != nil {
		t.Fatal(err)
	}
	if after, err := instanceOf(target.cfg.Dir); err != nil || after != before || after == own {
		t.Errorf("instance %x became %x (%v), the source has %x", before, after, err, own)
	}
	if at := store.Position(); at.Clock != 7 || store.Stats().Groups != 60 {
		t.Fatalf("at %v with %+v", at, store.Stats())
	}
	if target.copier.Copying() != nil || target.copier.describe() != "" {
		t.Error("it still copies")
	}
	if _, err := os.Stat(rocks.Incoming(target.cfg.Dir)); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}

// TestWhatIsCopiedAtTheStart: a store that is there is never replaced, and what an
// unfinished copy has left is kept for the balancer's order.
func TestWhatIsCopiedAtTheStart(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Dir = t.TempDir()
	left := filepath.Join(rocks.Incoming(cfg.Dir), "000007.sst.part")
	write := func(name string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o750), os.WriteFile(name, []byte("x"), 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	write(left)
	write(filepath.Join(cfg.Dir, "CURRENT"))
	c := &copier{cfg: &cfg, log: slog.New(slog.DiscardHandler)}
	for _, cfg.CopyFrom = range []string{"127.0.0.1:1", ""} { // nothing listens there
		if err := c.atStart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(left); err != nil {
			t.Error(err)
		}
	}
	if err := c.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(rocks.Incoming(cfg.Dir)); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}

// TestInstance: it stays with the directory, and a directory that is emptied or whose
// instance cannot be read gets another one.
func TestInstance(t *testing.T) {
	dir := t.TempDir()
	one, err := instanceOf(dir)
	again, e := instanceOf(dir)
	if err != nil || e != nil || one == 0 || again != one {
		t.Fatalf("%x, %x, %v, %v", one, again, err, e)
	}
	for _, text := range []string{"", "0", "no number"} {
		if err := os.WriteFile(filepath.Join(dir, instanceFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if other, err := instanceOf(dir); err != nil || other == 0 || other == one {
			t.Errorf("%q: %x, %v", text, other, err)
		}
	}
	if _, err := instanceOf(filepath.Join(dir, "missing")); err == nil {
		t.Error("a directory that is missing has an instance")
	}
}

// TestCopiesAreConfigured: what is wrong is refused with the key's name.
func TestCopiesAreConfigured(t *testing.T) {
	for key, change := range map[string]func(*Config){
		"copy_from":      func(c *Config) { c.CopyFrom = "slave-0" },
		"copy_rate":      func(c *Config) { c.CopyRate = 1000 },
		"trusted_slaves": func(c *Config) { c.TrustedSlaves = []string{"10.0.0.8", "host-1"} },
	} {
		cfg := DefaultConfig()
		change(&cfg)
		if err := cfg.Validate(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
	cfg := DefaultConfig()
	cfg.CopyFrom, cfg.TrustedSlaves = "10.0.0.8:7100", []string{"10.0.0.8", "10.1.0.0/16", "fd00::/8"}
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}
