package processtest

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"adshard/internal/node/balancer"
	"adshard/internal/node/collector"
	"adshard/internal/node/distributor"
	"adshard/internal/node/master"
	"adshard/internal/node/slave"
	"adshard/internal/node/up"
)

// refusal matches the error of a program that cannot work with a limit of the system.
var refusal = regexp.MustCompile(`may have \d+ [A-Za-z ]+, and needs (\d+): raise the limit with .ulimit (-[a-z]) \d+`)

// TestLimitsAreToldBeforeAnythingStarts: under each system limit that is too low, each program exits before it says that
// it listens or is ready, and names the number that it needs. With exactly that number it works.
func TestLimitsAreToldBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	parts := map[string]struct {
		ready string
		cfg   func() any
	}{
		"up": {"ready ", func() any {
			c := up.DefaultConfig()
			c.DB, c.Data, c.HTTP, c.Admin, c.Collector, c.Memory = w.url(), dir(t, "data"), anyPort, anyPort, anyPort, 512<<20
			return c
		}},
		"slave": {"slave ", func() any {
			c := slave.DefaultConfig()
			c.Dir, c.Listen, c.Admin, c.Memory = dir(t, "store"), anyPort, anyPort, 512<<20
			return c
		}},
		"master": {"master listening ", func() any {
			c := master.DefaultConfig()
			c.HTTP, c.Admin = anyPort, anyPort
			return c
		}},
		"balancer": {"balancer ready ", func() any {
			c := balancer.DefaultConfig()
			c.DB, c.Listen, c.Admin = w.url(), anyPort, anyPort
			return c
		}},
		"distributor": {"distributor ", func() any {
			c := distributor.DefaultConfig()
			c.DB, c.Listen, c.Admin = w.url(), anyPort, anyPort
			return c
		}},
		"collector": {"collector listening ", func() any {
			c := collector.DefaultConfig()
			c.DB, c.HTTP, c.Admin = w.url(), anyPort, anyPort
			return c
		}},
	}
	for command, part := range parts {
		for _, low := range []string{"-n 32", "-n 64", "-v 2090000", "-d 200000"} {
			p := startUnder(t, low, command, part.cfg())
			select {
			case <-p.ended:
			case <-time.After(patience):
				t.Fatalf("%s runs under ulimit %s", command, low)
			}
			said := p.said.String()
			m := refusal.FindStringSubmatch(said)
			if m == nil || m[2] != low[:2] || len(p.lines) > 0 { // Go may be unable to start a thread at the end, and report that after the error
				t.Errorf("%s under ulimit %s: %q, and on standard error %s", command, low, p.lines, said)
				continue
			}
			if low == "-n 32" {
				continue // its error is the one tested with a limit of 64
			}
			p = startUnder(t, fmt.Sprint(m[2], " ", m[1]), command, part.cfg())
			p.line(part.ready)
			p.stop()
		}
	}
}
