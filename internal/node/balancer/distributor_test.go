package balancer

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/distributor"
	"adshard/internal/node/ports"
	"adshard/internal/node/remote"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// distribute starts a distributor with this name. stop ends it.
func (r *rig) distribute(name string) (d *distributor.Process, stop func()) {
	r.T.Helper()
	cfg := distributor.DefaultConfig()
	cfg.Name, cfg.DB, cfg.Listen, cfg.Admin, cfg.Balancer = name, r.cfg.DB, "127.0.0.1:0", "", r.addr
	cfg.BucketBytes = r.cfg.BucketBytes
	port, err := ports.Open(nil, "")
	r.Must(err)
	d, err = distributor.NewProcess(r.T.Context(), cfg, r.DB, port, slog.New(slog.DiscardHandler))
	r.Must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			r.T.Error(err)
		}
	}
	r.T.Cleanup(stop)
	return d, stop
}

// TestDistributorsComeAndGo: several distributors fill slaves in parallel. The others replace one
// that ends in the middle, and a new one takes its share.
func TestDistributorsComeAndGo(t *testing.T) {
	r := newRig(t, 4)
	r.cfg.Distribute = false
	r.Write(40, 10, 5, 1_000_000)
	r.start()
	a, _ := r.distribute("a")
	b, stopB := r.distribute("b")
	for i := range 4 {
		r.slave(fmt.Sprint("s", i))
	}
	r.eventually("filling", func() bool { return r.groups() > 50 })
	if b.Slaves() > 0 {
		t.Logf("b ends with %d slaves and %d groups there", b.Slaves(), r.groups())
	}
	stopB()
	r.eventually("filled", func() bool { return r.whole() && r.groups() == 400 })
	r.distribute("c")
	r.distribute("d")
	r.eventually("shared", func() bool { return a.Slaves() < 4 })
	// The searches of this test cause load. No slice may be in two places because of it.
	r.Must(adminControl{r.b}.BalancePause(t.Context(), true))
	r.Write(45, 10, 6, 2_000_000)
	r.eventually("followed", func() bool { return r.groups() == 450 && r.whole() })
}

// TestChangesGoOnWithoutABalancer: without a balancer, changes continue under its last map. They
// continue with the next balancer, too.
func TestChangesGoOnWithoutABalancer(t *testing.T) {
	r := newRig(t, 2)
	r.cfg.Distribute = false
	r.Write(10, 5, 4, 1_000_000)
	r.start()
	r.distribute("a")
	r.slave("s0")
	r.slave("s1")
	r.eventually("filled", r.whole)
	r.stop()
	r.Write(12, 5, 5, 3_000_000)
	r.eventually("followed without a balancer", func() bool { return r.groups() == 60 && r.whole() })
	r.start()
	r.Write(14, 5, 5, 3_000_000)
	r.eventually("followed with the next", func() bool { return r.groups() == 70 && r.whole() })
	if r.b.Epoch() != 2 {
		t.Fatalf("epoch %d", r.b.Epoch())
	}
}

func TestOneNameIsOneSlave(t *testing.T) {
	r := newRig(t, 1)
	r.Write(3, 2, 2, 1_000_000)
	r.start()
	r.slave("s0")
	r.eventually("filled", r.whole)
	conn, err := wire.Dial(r.addr)
	r.Must(err)
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	c := remote.Balancer{Conn: conn}
	_, err = c.Register(ctx, &pb.RegisterRequest{Name: "s0", Address: "other.example:9", Incarnation: "other"})
	if !fault.Is(err, fault.Conflict) {
		t.Fatalf("a second s0: %v", err)
	}
	for _, text := range []string{"s0.example:1", "other.example:9"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not name %s", err, text)
		}
	}
	d, _, err := c.Distributor("")
	r.Must(err)
	if _, err := d.Pull(ctx, &pb.PullRequest{Name: "s0", Epoch: 1, Incarnation: "other"}); !fault.Is(err, fault.Stale) {
		t.Errorf("pull of the other: %v", err)
	}
	if _, err := c.Report(ctx, &pb.ReportRequest{Name: "s0", Epoch: 1, Incarnation: "other"}); !fault.Is(err, fault.Stale) {
		t.Errorf("report of the other: %v", err)
	}
}

// TestAPullNamesItsDatabase: a distributor gives nothing to a slave that asks for data of another
// database; the error names both databases.
func TestAPullNamesItsDatabase(t *testing.T) {
	r := newRig(t, 1)
	r.Write(3, 2, 2, 1_000_000)
	r.start()
	c := pb.NewDistributorClient(r.stranger())
	own := r.b.data.Database
	slave := &pb.RegisterRequest{Name: "s0", Address: "s0.example:1", Incarnation: "x", Position: &pb.Position{}}
	balancer := pb.NewBalancerClient(r.stranger())
	var enlisted *pb.EnlistResponse
	r.eventually("enlisted", func() bool { // a distributor must be at work first
		_, err := balancer.Register(shortly(t), slave)
		if err == nil {
			enlisted, err = c.Enlist(shortly(t), slave)
		}
		return err == nil
	})
	pull := func(database string) (*pb.PullResponse, error) {
		return c.Pull(shortly(t), &pb.PullRequest{Name: "s0", Incarnation: "x", Epoch: enlisted.Epoch, Position: &pb.Position{},
			Database: database, WaitMs: 50})
	}
	for _, other := range []string{"", "another"} {
		_, err := pull(other)
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), fmt.Sprintf("%q", other)) || !strings.Contains(err.Error(), own) {
			t.Errorf("a pull of database %q: %v", other, err)
		}
	}
	r.eventually("a pull of its own database brings data", func() bool {
		reply, err := pull(own)
		r.Must(err)
		return reply.Data != nil
	})
}

func TestASecondBalancerIsRefused(t *testing.T) {
	r := newRig(t, 1)
	r.cfg.Advertise = r.addr
	r.start()
	second := r.cfg
	second.Advertise = "127.0.0.1:1"
	if _, err := New(t.Context(), second, r.DB, slog.New(slog.DiscardHandler)); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a second balancer: %v", err)
	}
	r.stop()
	b, err := New(t.Context(), second, r.DB, slog.New(slog.DiscardHandler))
	if err != nil || b.Epoch() != 2 {
		t.Fatalf("after the first had ended: %v", err)
	}
}
