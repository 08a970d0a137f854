package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

// timed asks and returns how long that took.
func timed(t *testing.T, url, more string, status int) (answer, time.Duration) {
	t.Helper()
	begun := time.Now()
	a := ask(t, url, "usb cable", more, status)
	return a, time.Since(begun)
}

// TestSlavesThatHangOrAreDead: the answer comes in time, with what there is,
// and says what is missing.
func TestSlavesThatHangOrAreDead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 100)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)
	whole := ask(t, url, "usb cable", "&counts=exact", http.StatusOK)

	stopped := c.parts["slave-0"]
	stopped.freeze()
	for _, ms := range []int{200, 300, 50, 1} {
		a, took := timed(t, url, fmt.Sprintf("&timeout_ms=%d", ms), http.StatusOK)
		if took > time.Duration(ms)*time.Millisecond+time.Second {
			t.Errorf("%d ms took %v", ms, took)
		}
		if a.Coverage.Complete || !slices.Contains(a.Coverage.Missing, "slave-0") {
			t.Errorf("with a slave that hangs: %+v", a.Coverage)
		}
		if ms >= 200 && (len(a.Ads) == 0 || slices.Contains(a.Coverage.Missing, "slave-1")) {
			t.Errorf("what the other slave has is not there: %+v", a)
		}
	}
	timed(t, url, "&timeout_ms=100&strict=true", http.StatusServiceUnavailable)
	stopped.goOn()
	w.follows(url)
	w.compare(url)

	stopped.kill()
	c.parts["slave-1"].kill()
	a, _ := timed(t, url, "&timeout_ms=500", http.StatusOK)
	if len(a.Ads) > 0 || a.Coverage.Complete || !slices.Equal(a.Coverage.Missing, []string{"slave-0", "slave-1"}) {
		t.Errorf("with all slaves dead: %+v", a)
	}
	timed(t, url, "&strict=true", http.StatusServiceUnavailable)
	c.startSlave(0)
	c.startSlave(1)
	w.follows(url)
	if again := ask(t, url, "usb cable", "&counts=exact", http.StatusOK); again.Matched != whole.Matched {
		t.Errorf("%+v after the slaves returned, %+v before", again, whole)
	}
}
