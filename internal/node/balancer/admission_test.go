package balancer

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/internal/node/admission"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

// stranger returns a connection to the rig's balancer from a client that ignores all bounds.
func (r *rig) stranger() *grpc.ClientConn {
	r.T.Helper()
	options := append(wire.ClientOptions(words.Default), grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(1<<30)))
	conn, err := grpc.NewClient("passthrough:///"+r.addr, options...)
	r.Must(err)
	r.T.Cleanup(func() { _ = conn.Close() })
	return conn
}

func shortly(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestNamesOfMegabytesLeaveNothingBehind: a single registration with a name of 4 MB used to take 2
// GB within seconds, since the name went into the model, its quanta, the database and the log.
func TestNamesOfMegabytesLeaveNothingBehind(t *testing.T) {
	r := newRig(t, 1)
	r.Write(3, 2, 2, 1_000_000)
	r.start()
	r.slave("slave-0")
	r.eventually("filled", r.whole)
	balancer, before := pb.NewBalancerClient(r.stranger()), liveHeap()
	large := strings.Repeat("x", 4<<20)
	for range 20 {
		for field, m := range map[string]*pb.RegisterRequest{
			"RegisterRequest.name":        {Name: large, Address: "a:1"},
			"RegisterRequest.address":     {Name: "slave-1", Address: large},
			"RegisterRequest.incarnation": {Name: "slave-1", Address: "a:1", Incarnation: large},
			"SliceTable.origin":           {Name: "slave-1", Address: "a:1", Slices: &pb.SliceTable{Origin: large}},
		} {
			if _, err := balancer.Register(shortly(t), m); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != field {
				t.Fatalf("%s: %v", field, err)
			}
		}
	}
	if used := int64(liveHeap()) - int64(before); used > 64<<20 {
		t.Errorf("320 MB of registrations left %d bytes", used)
	}
	if list := r.b.SlavesList(); len(list) != 1 {
		t.Errorf("%d slaves", len(list))
	}
	if state, err := r.b.leadership.model(t.Context()); err != nil || len(state) > 10_000 {
		t.Errorf("a model of %d bytes, %v", len(state), err)
	}
}

// TestStrangersCanAddOnlySoManySlaves: without a bound, each new name would stay in the model for
// ever.
func TestStrangersCanAddOnlySoManySlaves(t *testing.T) {
	for name, planned := range map[string]bool{"before the first plan": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			if !planned {
				r.cfg.Slaves = 2 * admission.MaxSlaves
			}
			r.Write(3, 2, 2, 1_000_000)
			r.start()
			r.slave("slave-0")
			if planned {
				r.eventually("filled", r.whole)
			} else {
				r.eventually("known", func() bool { return len(r.b.SlavesList()) == 1 })
			}
			balancer, taken := pb.NewBalancerClient(r.stranger()), 1
			for i := range admission.MaxSlaves + 50 {
				register := func() error {
					_, err := balancer.Register(shortly(t), &pb.RegisterRequest{Name: fmt.Sprint("ghost-", i), Address: "a.example:1"})
					return err
				}
				err := register()
				for end := time.Now().Add(10 * time.Second); fault.Is(err, fault.Unavailable) && time.Now().Before(end); err = register() {
					time.Sleep(10 * time.Millisecond) // the distributor, which reports every second that it runs, is late
				}
				switch {
				case err == nil:
					taken++
				case !fault.Is(err, fault.Overloaded):
					t.Fatal(err)
				}
			}
			if taken != admission.MaxSlaves || len(r.b.SlavesList()) != admission.MaxSlaves {
				t.Errorf("%d taken, %d listed; at most %d are", taken, len(r.b.SlavesList()), admission.MaxSlaves)
			}
			// Slaves that are known continue.
			r.stopSlave("slave-0")
			r.slave("slave-0")
			r.eventually("back", func() bool {
				for _, s := range r.b.SlavesList() {
					if s.Name == "slave-0" {
						return s.Registered && s.SeenMs < 3000
					}
				}
				return false
			})
		})
	}
}

// TestTablesTogetherAreBounded: each table may have the largest size that a table can have, but not
// all of them together.
func TestTablesTogetherAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("short: registers tables of many megabytes")
	}
	r := newRig(t, 100)
	r.start()
	table := &pb.SliceTable{Origin: r.b.data.Origin(), Slices: make([]*pb.HeldSlice, wire.MaxSlices)}
	for i := range table.Slices {
		table.Slices[i] = &pb.HeldSlice{Id: uint64(i) + 1, Lo: uint64(i) << 40, Hi: uint64(i) << 40}
	}
	balancer := pb.NewBalancerClient(r.stranger())
	for i := range admission.MaxSlices/wire.MaxSlices + 1 {
		want := i < admission.MaxSlices/wire.MaxSlices
		for range 2 { // the second table replaces the first
			_, err := balancer.Register(shortly(t), &pb.RegisterRequest{Name: fmt.Sprint("slave-", i), Address: "a.example:1",
				Incarnation: "x", Slices: table})
			if want != (err == nil) || err != nil && !fault.Is(err, fault.Overloaded) {
				t.Fatalf("table %d: %v", i, err)
			}
		}
	}
}

func TestMastersAndDistributorsAreBounded(t *testing.T) {
	r := newRig(t, 1)
	r.cfg.MasterLease = time.Hour // no lease expires meanwhile
	r.start()
	balancer := pb.NewBalancerClient(r.stranger())
	const most = 1024
	for i := range most + 10 {
		_, err := balancer.WatchMap(shortly(t), &pb.WatchMapRequest{Master: fmt.Sprint("master-", i), WaitMs: 1, Epoch: 1 << 60})
		if i >= most && !fault.Is(err, fault.Overloaded) || i < most && err != nil {
			t.Fatalf("master %d: %v", i, err)
		}
	}
	r.stop()
	r.start()
	balancer = pb.NewBalancerClient(r.stranger())
	const namesakes = 64
	for i := range namesakes + 10 {
		_, err := balancer.WatchMap(shortly(t), &pb.WatchMapRequest{Master: fmt.Sprint("stolen/", i), WaitMs: 1, Epoch: 1 << 60})
		if i >= namesakes && !fault.Is(err, fault.Overloaded) || i < namesakes && err != nil {
			t.Fatalf("namesake %d: %v", i, err)
		}
	}
	for _, name := range []string{"master-1/1", "stolen/0"} {
		if _, err := balancer.WatchMap(shortly(t), &pb.WatchMapRequest{Master: name, WaitMs: 1, Epoch: 1 << 60}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	now, s := time.Now(), make(distributors)
	for i := range maxDistributors + 10 {
		err := s.record(fmt.Sprint("distributor-", i), "a:1", "", 0, now)
		if i >= maxDistributors && !fault.Is(err, fault.Overloaded) || i < maxDistributors && err != nil {
			t.Fatalf("distributor %d: %v", i, err)
		}
	}
	if err := s.record("late", "a:1", "", 0, now.Add(aliveTime)); err != nil {
		t.Errorf("when the others are gone: %v", err)
	}
}
