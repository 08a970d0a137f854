package balancer

import (
	"testing"

	"adshard/fault"
	"adshard/schema/pb"
)

// TestARestartedSlaveDoesNotServeYet: what a process reported before a restart is not said of the next one, whose store may have to be
// filled. An operator who replaces slaves one by one would otherwise stop the next one too early.
func TestARestartedSlaveDoesNotServeYet(t *testing.T) {
	r := newRig(t, 2)
	r.start()
	balancer := pb.NewBalancerClient(r.stranger())
	register := func(incarnation string) (epoch uint64) {
		r.eventually("registered, once there is a distributor", func() bool {
			reply, err := balancer.Register(shortly(t), &pb.RegisterRequest{Name: "slave-0", Address: "a.example:1", Incarnation: incarnation})
			if err != nil && !fault.Is(err, fault.Unavailable) {
				t.Fatal(err)
			}
			epoch = reply.GetEpoch()
			return err == nil
		})
		return epoch
	}
	epoch := register("first")
	if _, err := balancer.Report(shortly(t), &pb.ReportRequest{Name: "slave-0", Incarnation: "first", Epoch: epoch, State: &pb.SlaveState{Serving: true}}); err != nil {
		t.Fatal(err)
	}
	register("first") // after a connection was lost
	if list := r.b.SlavesList(); len(list) != 1 || !list[0].Serving {
		t.Fatalf("%+v", list)
	}
	register("second")
	if list := r.b.SlavesList(); len(list) != 1 || list[0].Serving {
		t.Errorf("it has not reported, and serves: %+v", list)
	}
}
