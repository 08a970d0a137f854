package processtest

import (
	"slices"
	"testing"
	"time"
)

// TestARestartWithADeadSlave: a restarted master answers with what is available, however long the
// balancer takes to give up a slave. This holds after a restart of the master and the balancer, and
// after a restart of all remaining processes at other addresses.
func TestARestartWithADeadSlave(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	c := newCluster(t, w)
	c.cfg.DeadAfter = 2 * patience
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)
	c.parts["slave-1"].kill()
	for _, which := range [][]string{{"balancer"}, {"balancer", "slave-0"}} {
		c.master.kill()
		for _, name := range which {
			c.parts[name].kill()
		}
		c.startBalancer()
		if len(which) > 1 {
			c.startSlave(0)
		}
		url = c.startMaster()
		began := time.Now()
		eventually(t, "an answer without the dead slave", func() bool {
			a := ask(t, url, "usb", "&timeout_ms=1000", 0)
			return len(a.Ads) > 0 && !a.Coverage.Complete && slices.Equal(a.Coverage.Missing, []string{"slave-1"})
		})
		t.Logf("%v: after %v", which, time.Since(began))
	}
	c.startSlave(1)
	w.follows(url)
	w.compare(url)
}
