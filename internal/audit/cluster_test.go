package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adshard/internal/clustertest"
	"adshard/internal/node/porttest"
)

// cluster is a balancer, two distributors, slaves and two masters, of which one uses streams, the other direct calls.
type cluster struct {
	*clustertest.Client
	t            *testing.T
	programs     string // with which the cluster starts
	balancer     *clustertest.Process
	distributors []*clustertest.Process
	slaves       []*clustertest.Process
	masters      []*clustertest.Process
	dirs         []string // directories of the slaves
	slaveAdmin   []string // base URLs of the slaves' admin ports
	address      string   // address of the balancer
	seeds        []string // addresses of the slaves
}

// interval is the time between two iterations of the strategy.
const interval = time.Second

func startCluster(t *testing.T, db string, slaves, replicas int) *cluster {
	t.Helper()
	return startPrograms(t, "", db, slaves, replicas)
}

// startPrograms does the same as startCluster with the programs in a directory, or this program if it is "".
func startPrograms(t *testing.T, programs, db string, slaves, replicas int) *cluster {
	t.Helper()
	balancer, admin := porttest.Address(t), porttest.Address(t)
	c := &cluster{t: t, programs: programs, address: balancer, Client: clustertest.NewClient(10*time.Second, nil, "http://"+admin)}
	c.Timeout = 5 * time.Second
	t.Cleanup(c.Close)
	c.balancer = clustertest.NewProcess(t, "balancer", "balancer", "balancer ready ", map[string]any{
		"db": "sqlite:" + db, "listen": balancer, "admin": admin, "slaves": slaves, "replicas": replicas, "strategy": "original", "order": "advertiser",
		"interval": interval.String(), "distribute": false,
	})
	c.begin(c.balancer)
	for i := range 2 {
		d := clustertest.NewProcess(t, "distributor", fmt.Sprint("distributor-", i), "distributor ", map[string]any{
			"name": fmt.Sprint("distributor-", i), "db": "sqlite:" + db, "balancer": balancer, "listen": porttest.Address(t), "admin": "", "order": "advertiser",
		})
		c.distributors = append(c.distributors, d)
		c.begin(d)
	}
	for i := range slaves {
		dir, listen, admin := filepath.Join(t.TempDir(), "store"), porttest.Address(t), porttest.Address(t)
		s := clustertest.NewProcess(t, "slave", c.slaveName(i), "slave ", map[string]any{
			"name": c.slaveName(i), "dir": dir, "listen": listen, "admin": admin, "balancer": balancer,
			"grace": "1m", // a restarted balancer may be late on a busy machine, and no slave serves before it has caught up
		})
		c.slaves, c.dirs, c.slaveAdmin = append(c.slaves, s), append(c.dirs, dir), append(c.slaveAdmin, "http://"+admin)
		c.seeds = append(c.seeds, listen)
		c.begin(s)
	}
	c.Masters = c.startMasters("")
	return c
}

// slaveName returns the name of a slave.
func (*cluster) slaveName(i int) string { return fmt.Sprint("slave-", i) }

// startMasters starts two masters and returns their base URLs.
func (c *cluster) startMasters(prefix string) (urls []string) {
	c.t.Helper()
	for i := range 2 {
		name, web := fmt.Sprint(prefix, "master-", i), porttest.Address(c.t)
		m := clustertest.NewProcess(c.t, "master", name, "ready ", map[string]any{
			"name": name, "http": web, "admin": "", "balancer": c.address, "slaves": c.seeds,
		})
		c.masters, urls = append(c.masters, m), append(urls, "http://"+web)
		c.begin(m)
	}
	return urls
}

func (c *cluster) begin(p *clustertest.Process) {
	c.t.Helper()
	p.Programs = c.programs
	if err := p.Start(); err != nil {
		c.t.Fatalf("start %s: %v", p.Command, err)
	}
}

// wipe empties a slave's directory before the slave is restarted.
func (c *cluster) wipe(slave int) {
	if err := os.RemoveAll(c.dirs[slave]); err != nil {
		c.t.Error(err)
	}
}

// tidy removes a slave's stores that were set aside, since no more than three are kept.
func (c *cluster) tidy(slave int) {
	aside, _ := filepath.Glob(c.dirs[slave] + ".set-aside-*") // the pattern is valid
	for _, dir := range aside {
		if err := os.RemoveAll(dir); err != nil {
			c.t.Error(err)
		}
	}
}

// ready reports whether a slave holds all of its data.
func (c *cluster) ready(slave int) bool { return c.Ready(c.slaveAdmin[slave]) }

// whole reports whether each slave is in use, and each shard has the given number of replicas.
func (c *cluster) whole(replicas int) bool { return c.Whole(len(c.slaves), replicas) }

// applied reports whether each slave holds the changes up to a clock.
func (c *cluster) applied(clock uint64) bool {
	list, err := c.Slaves()
	for _, s := range list {
		if s.AppliedClock < clock {
			return false
		}
	}
	return err == nil && len(list) == len(c.slaves)
}
