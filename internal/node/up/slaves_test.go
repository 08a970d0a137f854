package up

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// started returns how many slaves the cluster said that it started.
func (c *cluster) started() (n int) {
	for line := range slices.Values(c.lines) {
		if strings.HasPrefix(line, "slave ") {
			n++
		}
	}
	return n
}

// TestSlavesWithoutANumber: a new directory gets one shard, and a later start has as many slaves as
// the directory has stores, so that no start without a number is refused or leaves stores out. It says why.
func TestSlavesWithoutANumber(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 5))
	for _, c := range []struct{ asked, replicas, shards, slaves int }{{0, 1, 1, 1}, {0, 2, 1, 2}, {3, 1, 3, 3}} {
		cfg.Data, cfg.Replicas = filepath.Join(t.TempDir(), "data"), c.replicas
		for _, asked := range []int{c.asked, 0} {
			cfg.Slaves = asked
			up := startUp(t, cfg)
			if a := up.search(t, "usb cable"); !a.Coverage.Complete || a.Coverage.Shards != c.shards || up.started() != c.slaves {
				t.Errorf("%+v, asked for %d: %d slaves, %+v", c, asked, up.started(), a.Coverage)
			}
			if err := up.stop(); err != nil {
				t.Fatal(err)
			}
			if told := strings.Contains(up.log.String(), "--slaves chooses"); told != (asked == 0) {
				t.Errorf("%+v, asked for %d: why it has so many slaves is told: %v", c, asked, told)
			}
		}
	}
}
