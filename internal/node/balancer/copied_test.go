package balancer

import (
	"fmt"
	"testing"

	"adshard/fault"
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
		if list := (adminControl{r.b}).refused(); len(list) != min(i, 1) || i > 0 && list[0].Name != "slave-1" {
			t.Errorf("after registration %d: %+v", i, list)
		}
	}
}
