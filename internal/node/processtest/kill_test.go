package processtest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"adshard/internal/node/balancer"
	"adshard/internal/node/master"
	"adshard/internal/node/porttest"
	"adshard/internal/node/slave"
)

const anyPort = "127.0.0.1:0"

// cluster is a balancer, two slaves and a master, each in its own process.
type cluster struct {
	t      *testing.T
	world  *world
	cfg    balancer.Config
	slave  []slave.Config
	admin  string // the balancer's admin port
	seeds  []string
	scorer string // scoring model of the next master
	master *process
	health string // the master's admin port
	parts  map[string]*process
}

// newCluster configures a cluster whose first fill needs many small buckets.
func newCluster(t *testing.T, w *world) *cluster {
	c := &cluster{t: t, world: w, cfg: balancer.DefaultConfig(), parts: make(map[string]*process)}
	c.cfg.DB, c.cfg.Listen, c.cfg.Admin, c.cfg.Slaves = w.url(), porttest.Address(t), anyPort, 2
	c.cfg.BucketBytes, c.cfg.NodeBytes, c.cfg.Ahead = 2<<10, 8<<10, 2
	for i := range 2 {
		s := slave.DefaultConfig()
		s.Name, s.Listen, s.Admin = fmt.Sprintf("slave-%d", i), anyPort, ""
		s.Dir, s.Memory = dir(t, s.Name), 256<<20
		c.slave = append(c.slave, s)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return c
}

// startBalancer starts the balancer, at the same address each time.
func (c *cluster) startBalancer() {
	c.t.Helper()
	p := start(c.t, "balancer", c.cfg)
	c.admin = p.line("admin ")
	p.line("balancer ready ")
	c.parts["balancer"] = p
}

func (c *cluster) startSlave(i int) {
	c.t.Helper()
	c.slave[i].Balancer = c.cfg.Listen
	p := start(c.t, "slave", c.slave[i])
	p.line(fmt.Sprintf("slave %d listening ", i))
	c.parts[c.slave[i].Name] = p
}

// startMaster starts a master and returns its URL.
func (c *cluster) startMaster() string {
	c.t.Helper()
	m := master.DefaultConfig()
	m.HTTP, m.Admin, m.Balancer, m.Slaves, m.Scorer = anyPort, anyPort, c.cfg.Listen, c.seeds, c.scorer
	c.master = start(c.t, "master", m)
	c.health = c.master.line("admin ")
	return c.master.line("master listening ")
}

// fills waits until a slave has more than a given number of groups.
func (c *cluster) fills(name string, groups uint64) {
	c.t.Helper()
	eventually(c.t, name+" is being filled", func() bool { return groupsOf(slaves(c.t, c.admin), name) > groups })
}

func TestASlaveKilledWhileItApplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 300)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	for kills, at := 0, uint64(20); kills < 3; kills, at = kills+1, at+100 {
		c.fills("slave-0", at)
		c.parts["slave-0"].kill()
		if a := ask(t, url, "usb", "", 0); a.Coverage.Complete {
			t.Fatal("complete without one of two slaves")
		}
		c.startSlave(0)
	}
	if groups := groupsOf(slaves(t, c.admin), "slave-0"); groups > 590 {
		t.Logf("the fill was over before the last kill: %d groups", groups)
	}
	w.follows(url)
	w.compare(url)

	// The same again while it follows changes.
	for i := range 3 {
		w.write(i*50, i*50+50)
		time.Sleep(5 * time.Millisecond)
		c.parts["slave-1"].kill()
		w.write(i*50+20, i*50+70)
		c.startSlave(1)
	}
	w.follows(url)
	w.compare(url)
}

func TestABalancerKilledWhileFilling(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 300)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	for kills, at := 0, uint64(20); kills < 3; kills, at = kills+1, at+100 {
		c.fills("slave-0", at)
		c.parts["balancer"].kill()
		w.write(kills*10, kills*10+10) // changes continue meanwhile
		c.startBalancer()
	}
	w.follows(url)
	w.compare(url)

	// While no balancer runs, queries are answered as before.
	c.parts["balancer"].kill()
	w.write(0, 100)
	if a := ask(t, url, "usb cable", "", http.StatusOK); !a.Coverage.Complete {
		t.Fatalf("incomplete without a balancer: %+v", a.Coverage)
	}
	// A slave that starts meanwhile serves what it has.
	c.parts["slave-1"].stop()
	address := c.parts["slave-1"].line("slave 1 listening ")
	c.slave[1].Listen = address
	c.startSlave(1)
	eventually(t, "a slave without a balancer serves", func() bool { return ask(t, url, "usb", "", 0).Coverage.Complete })
	// A master that starts meanwhile gets the map from a slave.
	c.seeds = []string{c.parts["slave-1"].line("slave 1 listening ")}
	second := c.startMaster()
	eventually(t, "a master without a balancer answers", func() bool { return ask(t, second, "usb", "", 0).Coverage.Complete })
	c.startBalancer()
	w.follows(url)
	w.follows(second)
	w.compare(second)
}
