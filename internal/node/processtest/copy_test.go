package processtest

import (
	"bufio"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adshard/internal/node/slave"
)

// TestASlaveIsReplacedByACopy: a slave copies the store of a running slave, and is killed several
// times during the copy while data change. When the original slave dies, the copy takes its name,
// continues from the copy's position, and is not filled from the database.
func TestASlaveIsReplacedByACopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 300)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)

	copied := c.slave[0]
	copied.Dir, copied.Admin, copied.CopyRate = filepath.Join(t.TempDir(), "copy"), anyPort, 1<<20
	copied.CopyFrom = c.parts["slave-0"].line("slave 0 listening ")
	for i := range 3 {
		p := start(t, "slave", copied)
		time.Sleep(time.Duration(100+200*i) * time.Millisecond)
		p.kill()
		w.write(10*i, 10*i+10)
	}
	copied.CopyRate = slave.DefaultConfig().CopyRate
	p := start(t, "slave", copied)
	p.line("slave 0 listening ")
	w.write(30, 40)
	w.follows(url)
	w.compare(url) // the serving slave is not affected by a second one with its name

	c.parts["slave-0"].kill()
	w.write(40, 50)
	w.follows(url)
	w.compare(url)
	if n := metric(t, p.line("admin "), "adshard_items_applied_total"); n == 0 || n > 300 {
		t.Errorf("%v groups were written: it was filled again", n)
	}
	// A restart with the same configuration copies nothing.
	p.stop()
	copied.CopyFrom = anyPort
	p = start(t, "slave", copied)
	p.line("slave 0 listening ")
	w.follows(url)
	w.compare(url)
}

// metric reads a metric of an admin port.
func metric(t *testing.T, admin, name string) float64 {
	t.Helper()
	resp, err := http.Get(admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), " "); ok && (key == name || strings.HasPrefix(key, name+"{")) {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}
