package processtest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/internal/node/porttest"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// TestAMasterIsReadyOnceTheSlavesWereFilled: a master is ready as soon as the slaves have been filled, and not earlier. It stays ready
// when slaves are dead, through restarts of the master and the balancer, and without a balancer.
func TestAMasterIsReadyOnceTheSlavesWereFilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 200)
	c := newCluster(t, w)
	c.cfg.DeadAfter = 2 * time.Second
	c.startBalancer()
	url := c.startMaster()
	c.startSlave(0)
	if code := status(t, c.health+"/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("without a plan: %d", code)
	}
	c.announce("slave-1") // the plan is made for two slaves, and this one is filled later
	eventually(t, "slave-0 is filled", func() bool {
		missing := ask(t, url, "usb", "", 0).Coverage.Missing
		return slices.Equal(missing, []string{"slave-1"})
	})
	for range 2 {
		if code := status(t, c.health+"/readyz"); code != http.StatusServiceUnavailable {
			t.Errorf("slave-1 has never been filled: %d", code)
		}
		c.master.kill()
		url = c.startMaster()
	}
	c.startSlave(1)
	eventually(t, "the master is ready", func() bool {
		if status(t, c.health+"/readyz") != http.StatusOK {
			return false
		}
		if a := ask(t, url, "usb", "", http.StatusOK); !a.Coverage.Complete {
			t.Errorf("ready, and not complete: %+v", a.Coverage)
		}
		return true
	})
	w.follows(url)
	c.seeds = []string{c.parts["slave-0"].line("slave 0 listening ")}
	c.awaitFilled(c.seeds[0]) // before the balancer is gone
	c.parts["slave-1"].kill()
	for _, away := range []string{"", "balancer", "balancer"} {
		c.master.kill()
		if away != "" {
			c.parts[away].kill()
		}
		if away != "" && c.seeds == nil {
			c.startBalancer()
		}
		url = c.startMaster()
		eventually(t, fmt.Sprintf("the master is ready with a dead slave, %q killed", away), func() bool {
			return status(t, c.health+"/readyz") == http.StatusOK
		})
		if a := ask(t, url, "usb", "", http.StatusOK); a.Coverage.Complete || !slices.Equal(a.Coverage.Missing, []string{"slave-1"}) {
			t.Errorf("%q killed: %+v", away, a.Coverage)
		}
		if away != "" {
			c.seeds = nil // next time with a restarted balancer
		}
	}
}

// TestAMasterWaitsForItsModel: a master that asks for another scoring model than slaves have is ready when they have that model, and does
// not become ready when a master with the slaves' model does.
func TestAMasterWaitsForItsModel(t *testing.T) {
	t.Parallel()
	c := newCluster(t, newWorld(t, 50))
	place := t.TempDir()
	theirs, own := filepath.Join(place, "theirs.json"), filepath.Join(place, "own.json")
	for path, model := range map[string]string{theirs: `{"format":1,"bias":1}`, own: `{"format":1,"bias":2}`} {
		if err := os.WriteFile(path, []byte(model), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.startBalancer()
	for i := range c.slave {
		c.slave[i].Scorer = theirs
		c.startSlave(i)
	}
	c.scorer = own
	url := c.startMaster()
	first := c.master
	eventually(t, "slaves refuse the first master", func() bool {
		return maps.Equal(ask(t, url, "usb", "", 0).Coverage.Reasons, map[string]string{"slave-0": "version", "slave-1": "version"})
	})
	c.scorer = theirs
	c.startMaster()
	c.master.line("ready ")
	if first.last("ready ") != "" {
		t.Error("it is ready, and slaves lack its model")
	}
	if err := os.Rename(own, theirs); err != nil {
		t.Fatal(err)
	}
	first.line("ready ")
	if a := ask(t, url, "usb", "", http.StatusOK); !a.Coverage.Complete {
		t.Errorf("ready, and not complete: %+v", a.Coverage)
	}
}

// announce registers a slave that does not run.
func (c *cluster) announce(name string) {
	c.t.Helper()
	conn, err := wire.Dial(c.cfg.Listen)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	r := &pb.RegisterRequest{Name: name, Address: "127.0.0.1:1", Incarnation: "nobody", Position: &pb.Position{}, Slices: &pb.SliceTable{}}
	if _, err := pb.NewBalancerClient(conn).Register(ctx, r); err != nil {
		c.t.Fatal(err)
	}
}

// awaitFilled waits until a slave reports that all slaves have been filled. Masters learn this from slaves.
func (c *cluster) awaitFilled(address string) {
	c.t.Helper()
	conn, err := wire.Dial(address)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	eventually(c.t, "the slave knows that all were filled", func() bool {
		m, err := pb.NewSlaveClient(conn).Map(ctx, &pb.MapRequest{})
		return err == nil && m.GetFilled()
	})
}

// TestAnEmptyDatabaseIsFilledAtOnce: with an empty database, there is nothing to wait for.
func TestAnEmptyDatabaseIsFilledAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	c.startMaster()
	eventually(t, "the master is ready", func() bool { return status(t, c.health+"/readyz") == http.StatusOK })
}

// TestASlaveIsReadyOnceItIsAdmitted: a slave whose balancer cannot be reached prints that it listens, and that it is ready once there is a
// balancer.
func TestASlaveIsReadyOnceItIsAdmitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	c := newCluster(t, w)
	c.cfg.Slaves = 1
	c.slave[0].Admin = porttest.Address(t)
	c.startSlave(0) // until it listens
	s := c.parts["slave-0"]
	eventually(t, "it waits for the balancer", func() bool {
		_, why := tries(t, http.MethodGet, "http://"+c.slave[0].Admin+"/readyz", "")
		return strings.Contains(why, "register with the balancer")
	})
	if line := s.last("slave 0 ready "); line != "" {
		t.Errorf("without a balancer it is %q", line)
	}
	c.startBalancer()
	if at := s.line("slave 0 ready "); at != s.last("slave 0 listening ") {
		t.Errorf("ready at %q", at)
	}
}
