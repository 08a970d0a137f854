package balancer

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/schema/pb"
)

// TestACopyIsNamedAlone: the slave whose directory was copied is not taken for the copy, also when it starts again later.
func TestACopyIsNamedAlone(t *testing.T) {
	r := newRig(t, 2)
	r.start()
	balancer := pb.NewBalancerClient(r.stranger())
	for i, name := range []string{"slave-0", "slave-1", "slave-0", "slave-1"} {
		r.eventually("registered, once there is a distributor", func() bool {
			_, err := balancer.Register(shortly(t), &pb.RegisterRequest{Name: name, Address: name + ".example:1", Incarnation: fmt.Sprint(i), Instance: 77})
			if err != nil && !fault.Is(err, fault.Unavailable) {
				t.Fatal(err)
			}
			return err == nil
		})
		if list := r.b.refused(); len(list) != min(i, 1) || i > 0 && list[0].Name != "slave-1" {
			t.Errorf("after registration %d: %+v", i, list)
		}
	}
}

// TestRefusalsAreRemembered: who was refused is remembered for a minute with the newest reason, until it is accepted. A balancer that
// cannot decide refuses nobody, and callers cannot fill its memory.
func TestRefusalsAreRemembered(t *testing.T) {
	var f refusals
	at := time.Unix(1000, 0)
	of := func(name string) *pb.RegisterRequest { return &pb.RegisterRequest{Name: name, Address: "10.0.0.1:1"} }
	refused := func(why string) error { return fault.New(fault.Conflict, "balancer: register", errors.New(why)) }
	f.note(of("slave-0"), refused("first"), at)
	f.note(of("slave-0"), refused("second"), at.Add(time.Second))
	f.note(of("slave-1"), fault.New(fault.Unavailable, "x", errors.New("not leading")), at)
	f.note(of("slave-2"), nil, at)
	if got := f.shown(at.Add(2 * time.Second)); len(got) != 1 || got[0].Name != "slave-0" || got[0].Why != "second" || got[0].Address != "10.0.0.1:1" {
		t.Errorf("%+v", got)
	}
	if got := f.shown(at.Add(refusedFor + 2*time.Second)); len(got) != 0 {
		t.Errorf("a minute later: %+v", got)
	}
	f.note(&pb.RegisterRequest{Name: "slave-0", Address: "10.0.0.2:1"}, nil, at.Add(3*time.Second)) // its address was wrong
	if got := f.shown(at.Add(4 * time.Second)); len(got) != 0 {
		t.Errorf("accepted: %+v", got)
	}
	for i := range 2 * mostRefused {
		f.note(of(fmt.Sprint(i)), refused("x"), at.Add(time.Duration(i)))
	}
	got := f.shown(at)
	newest := slices.ContainsFunc(got, func(r api.RefusedSlave) bool { return r.Name == fmt.Sprint(2*mostRefused-1) })
	if len(got) != mostRefused || !newest {
		t.Errorf("%d are remembered, the newest: %v", len(got), newest)
	}
}
