package balancer

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/internal/node/hostiletest"
	"adshard/schema/pb"
)

// TestAPeerThatLiesInAnyField: false values in any field, from a slave, master or distributor, are
// refused or have no effect on others. Nothing panics, and the cluster stays whole.
func TestAPeerThatLiesInAnyField(t *testing.T) {
	r := newRig(t, 1)
	r.Write(5, 3, 3, 1_000_000)
	r.start()
	r.slave("slave-0")
	r.eventually("filled", r.whole)
	conn := r.stranger()
	balancer, distributor := pb.NewBalancerClient(conn), pb.NewDistributorClient(conn)
	register, calls := r.lies(balancer, distributor)
	for what, c := range calls {
		tried := 0
		hostiletest.Each(c.base, func(field string, m proto.Message) {
			tried++
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if what == "Report" || what == "Pull" || what == "Part" || what == "Verify" { // registered, so that all fields are checked
				_, e1 := balancer.Register(ctx, register)
				_, e2 := distributor.Enlist(ctx, register)
				if err := errors.Join(e1, e2); fault.Is(err, fault.Internal) {
					t.Fatal(err)
				}
			}
			if err := c.call(ctx, m); fault.Is(err, fault.Internal) || fault.Is(err, fault.Deadline) {
				t.Errorf("%s with %s: %v\n%v", what, field, err, m)
			}
		})
		if tried < 20 {
			t.Errorf("%s: only %d values were tried", what, tried)
		}
	}
	r.eventually("whole as before", r.whole)
	r.Write(6, 3, 3, 1_000_000)
	r.eventually("whole after a change", r.whole)
}

// lie is a call, and the request from which false ones are made.
type lie struct {
	base proto.Message
	call func(context.Context, proto.Message) error
}

// lies returns the registration of a slave, and all calls by name.
func (r *rig) lies(balancer pb.BalancerClient, distributor pb.DistributorClient) (*pb.RegisterRequest, map[string]lie) {
	own, epoch, name, secret := r.b.data.Database, r.b.Epoch(), "liar", "x"
	table := &pb.SliceTable{Origin: r.b.data.Origin(), Timeline: r.b.data.Timeline, Shard: name,
		Slices: []*pb.HeldSlice{{Id: 1, Lo: 5, Hi: 9, Generation: 1, From: 1}}}
	register := &pb.RegisterRequest{Name: name, Address: "127.0.0.1:1", Incarnation: secret, Slices: table}
	return register, map[string]lie{
		"Register": {register, func(ctx context.Context, m proto.Message) error {
			_, err := balancer.Register(ctx, m.(*pb.RegisterRequest))
			return err
		}},
		"Report": {&pb.ReportRequest{Name: name, Incarnation: secret, Epoch: epoch, Slices: table,
			Load: &pb.Load{Number: 1, IntervalMs: 1000, Queries: 5, Slices: []*pb.SliceLoad{{Slice: 1, Generation: 1, SplitKey: proto.Uint64(7)}},
				Pairs: []*pb.PairLoad{{Term: 1, Key: 7, Cost: &pb.Cost{Examined: 1}}}}},
			func(ctx context.Context, m proto.Message) error {
				_, err := balancer.Report(ctx, m.(*pb.ReportRequest))
				return err
			}},
		"WatchMap": {&pb.WatchMapRequest{Master: name, Epoch: epoch, Database: own}, func(ctx context.Context, m proto.Message) error {
			m.(*pb.WatchMapRequest).WaitMs = 1
			_, err := balancer.WatchMap(ctx, m.(*pb.WatchMapRequest))
			return err
		}},
		"Quanta": {&pb.QuantaRequest{Name: name, Address: "127.0.0.1:1", Epoch: epoch, Database: own, Order: r.b.order.String(), Weights: []*pb.Weight{{Key: 1, Weight: 1}}},
			func(ctx context.Context, m proto.Message) error {
				m.(*pb.QuantaRequest).WaitMs = 1
				_, err := balancer.Quanta(ctx, m.(*pb.QuantaRequest))
				return err
			}},
		"Enlist": {register, func(ctx context.Context, m proto.Message) error {
			_, err := distributor.Enlist(ctx, m.(*pb.RegisterRequest))
			return err
		}},
		"Pull": {&pb.PullRequest{Name: name, Incarnation: secret, Epoch: epoch, Database: own}, func(ctx context.Context, m proto.Message) error {
			m.(*pb.PullRequest).WaitMs = 1
			_, err := distributor.Pull(ctx, m.(*pb.PullRequest))
			return err
		}},
		"Part": {&pb.PartRequest{Name: name, Incarnation: secret, Epoch: epoch}, func(ctx context.Context, m proto.Message) error {
			_, err := distributor.Part(ctx, m.(*pb.PartRequest))
			return err
		}},
		"Verify": {&pb.VerifyRequest{Name: name, Incarnation: secret, Epoch: epoch, Database: own, Lo: 5, Hi: 9}, func(ctx context.Context, m proto.Message) error {
			_, err := distributor.Verify(ctx, m.(*pb.VerifyRequest))
			return err
		}},
	}
}
