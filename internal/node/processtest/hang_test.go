package processtest

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestAHungSlaveIsLeftOut: as soon as a hung slave is detected, no query waits for it. Each answer
// says that the slave is missing and was not asked. Strict queries are refused. The slave is taken
// back when it continues.
func TestAHungSlaveIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 100)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)
	eventually(t, "the first fill is reported", func() bool { return status(t, c.health+"/readyz") == http.StatusOK })

	hung := c.parts["slave-0"]
	hung.freeze()
	const gauge = `adshard_replica_left_out{node="master-0",replica="slave-0",shard="slave-0",why="silent"} `
	eventually(t, "the slave is left out", func() bool {
		return ask(t, url, "usb cable", "&timeout_ms=500", http.StatusOK).Coverage.Reasons["slave-0"] == "silent"
	})
	eventually(t, "the metric says so", func() bool { return strings.Contains(read(t, c.health+"/metrics"), gauge+"1") })
	for range 20 {
		a := ask(t, url, "usb cable", "", http.StatusOK)
		if a.Coverage.Complete || len(a.Ads) == 0 || !slices.Equal(a.Coverage.Missing, []string{"slave-0"}) ||
			a.Coverage.Reasons["slave-0"] != "silent" { // a slave that was waited for is late
			t.Errorf("%+v", a)
		}
	}
	ask(t, url, "usb cable", "&strict=true", http.StatusServiceUnavailable)
	if code := status(t, c.health+"/readyz"); code != http.StatusOK {
		t.Errorf("readyz is %d", code)
	}
	hung.goOn()
	w.follows(url)
	w.compare(url)
	eventually(t, "the metric says so", func() bool { return strings.Contains(read(t, c.health+"/metrics"), gauge+"0") })
}

// TestASlaveThatHangsHoldsUpNoMove: a third slave stops while a slice moves between the other two.
// The new view is published as soon as the third counts as lost. Answers lack no other slave, and
// the third serves the new view when it continues.
func TestASlaveThatHangsHoldsUpNoMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	c, url := moving(t, w)
	third := c.slave[1]
	third.Name, third.Dir = "slave-2", dir(t, "slave-2")
	c.slave = append(c.slave, third)
	c.startSlave(2)
	eventually(t, "the third slave has joined", func() bool { return len(slaves(t, c.admin)) == 3 })
	c.move("slave-0", "slave-2")
	eventually(t, "the move is over", c.still)
	w.follows(url)
	c.parts["slave-2"].freeze()
	c.move("slave-0", "slave-1")
	eventually(t, "the move is over", c.still)
	eventually(t, "only the slave that hangs is missing", func() bool {
		return slices.Equal(ask(t, url, "usb", "&timeout_ms=500", 0).Coverage.Missing, []string{"slave-2"})
	})
	c.parts["slave-2"].goOn()
	w.follows(url)
	w.compare(url)
}

// status sends a request and returns the HTTP status.
func status(t *testing.T, url string) int {
	t.Helper()
	code, _ := fetch(t, url)
	return code
}

// read sends a request and returns the body.
func read(t *testing.T, url string) string {
	t.Helper()
	_, body := fetch(t, url)
	return body
}

func fetch(t *testing.T, url string) (code int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
