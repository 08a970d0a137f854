package balancer

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc/metadata"

	"adshard/fault"
	"adshard/schema/pb"
)

// TestStrangersAreNoDistributors: the balancer sends slaves only to distributors that it trusts,
// because the data that a distributor hands out replaces what slaves hold.
func TestStrangersAreNoDistributors(t *testing.T) {
	for name, c := range map[string]struct {
		trusted      []string
		name, at     string
		taken, known bool
	}{
		"on this machine":               {nil, "d", "127.0.0.1:9", true, true},
		"on another one":                {nil, "d", "10.0.0.6:7200", false, false},
		"listed":                        {[]string{"10.0.0.6:7200"}, "d", "10.0.0.6:7200", true, true},
		"not listed":                    {[]string{"10.0.0.6:7200"}, "d", "10.0.0.7:7200", false, false},
		"not listed, on this machine":   {[]string{"10.0.0.6:7200"}, "d", "127.0.0.1:9", false, false},
		"under the balancer's own name": {nil, ownDistributor, "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			r.cfg.TrustedDistributors, r.cfg.Distribute = c.trusted, false
			r.start()
			_, err := pb.NewBalancerClient(r.stranger()).Quanta(shortly(t), &pb.QuantaRequest{
				Name: c.name, Address: c.at, WaitMs: 1, Database: r.b.data.Database, Order: r.b.order.String()})
			if c.taken != (err == nil) || err != nil && !fault.Is(err, fault.Conflict) {
				t.Fatalf("%v", err)
			}
			r.b.mu.Lock()
			defer r.b.mu.Unlock()
			if len(r.b.distributors) > 0 != c.taken {
				t.Errorf("distributors: %v", r.b.distributors)
			}
		})
	}
}

// TestViewsBeyondCountingAreRefused: a view of 2⁶⁴−1 is refused, because the next view would be 0.
func TestViewsBeyondCountingAreRefused(t *testing.T) {
	r := newRig(t, 1)
	r.start()
	held := []*pb.HeldSlice{{Id: 1, Hi: ^uint64(0), Generation: 1, From: 1}}
	_, err := pb.NewBalancerClient(r.stranger()).Register(shortly(t), &pb.RegisterRequest{Name: "slave-0", Address: "a.example:1",
		Slices: &pb.SliceTable{View: ^uint64(0), Slices: held, Origin: r.b.data.Origin()}})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("%v", err)
	}
}

// TestSlavesGoToDistributorsOfTheirWords: slaves are sent only to distributors with the same
// versions of the rules for words, as named by the calls.
func TestSlavesGoToDistributorsOfTheirWords(t *testing.T) {
	r := newRig(t, 1)
	r.cfg.Distribute = false
	r.start()
	client := pb.NewBalancerClient(r.stranger())
	older := metadata.AppendToOutgoingContext(shortly(t), "adshard-words", "rules 1; x") // two versions count as none
	callers := map[string]context.Context{"127.0.0.1:1": shortly(t), "127.0.0.1:2": older}
	for address, ctx := range callers {
		if _, err := client.Quanta(ctx, &pb.QuantaRequest{Name: "d" + address, Address: address, WaitMs: 1, Database: r.b.data.Database, Order: r.b.order.String()}); err != nil {
			t.Fatal(err)
		}
	}
	for address, ctx := range callers {
		for i := range 8 {
			name := fmt.Sprint(address, "-", i)
			reply, err := client.Register(ctx, &pb.RegisterRequest{Name: name, Address: fmt.Sprint("a.example:", i+1), Incarnation: name,
				Slices: &pb.SliceTable{Origin: r.b.data.Origin()}})
			if err != nil {
				t.Fatal(err)
			}
			if reply.Distributor != address {
				t.Errorf("%s is to pull from %s", name, reply.Distributor)
			}
		}
	}
}
