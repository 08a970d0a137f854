package admission

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

// TestRefusalsAreRemembered: who was refused is remembered for a minute with the newest reason, until it is accepted. Errors of a
// balancer that cannot decide now are not remembered, and memory is bounded.
func TestRefusalsAreRemembered(t *testing.T) {
	var f Refusals
	at := time.Unix(1000, 0)
	of := func(name string) *pb.RegisterRequest { return &pb.RegisterRequest{Name: name, Address: "10.0.0.1:1"} }
	refused := func(why string) error { return fault.New(fault.Conflict, "balancer: register", errors.New(why)) }
	f.Record(of("slave-0"), refused("first"), at)
	f.Record(of("slave-0"), refused("second"), at.Add(time.Second))
	f.Record(of("slave-1"), fault.New(fault.Unavailable, "x", errors.New("not leading")), at)
	f.Record(of("slave-2"), nil, at)
	if got := f.List(at.Add(2 * time.Second)); len(got) != 1 || got[0].Name != "slave-0" || got[0].Why != "second" || got[0].Address != "10.0.0.1:1" {
		t.Errorf("%+v", got)
	}
	if got := f.List(at.Add(Remembered + 2*time.Second)); len(got) != 0 {
		t.Errorf("a minute later: %+v", got)
	}
	f.Record(&pb.RegisterRequest{Name: "slave-0", Address: "10.0.0.2:1"}, nil, at.Add(3*time.Second)) // its address was wrong
	if got := f.List(at.Add(4 * time.Second)); len(got) != 0 {
		t.Errorf("accepted: %+v", got)
	}
	for i := range 2 * mostRefused {
		f.Record(of(fmt.Sprint(i)), refused("x"), at.Add(time.Duration(i)))
	}
	got := f.List(at)
	newest := slices.ContainsFunc(got, func(r Refusal) bool { return r.Name == fmt.Sprint(2*mostRefused-1) })
	if len(got) != mostRefused || !newest {
		t.Errorf("%d are remembered, the newest: %v", len(got), newest)
	}
}
