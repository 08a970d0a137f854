package stream

import (
	"testing"

	"adshard/fault"
	"adshard/schema/pb"
)

// A master that sends contexts takes no answers of a slave that skips them; a slave that reads them answers older masters.
func TestSlavesThatKnowNoContext(t *testing.T) {
	hello := func(v uint32) *pb.Hello { return &pb.Hello{Version: v, Name: "slave-0"} }
	for _, c := range []struct {
		master, slave uint32
		met           bool
	}{{2, 2, true}, {1, 2, true}, {1, 1, true}, {2, 1, false}, {3, 2, true}, {0, 2, false}} {
		err := meet(hello(c.master), hello(c.slave))
		if c.met != (err == nil) || err != nil && !fault.Is(err, fault.Version) {
			t.Errorf("master of %d, slave of %d: %v", c.master, c.slave, err)
		}
	}
}
