package processtest

import (
	"net/http"
	"slices"
	"testing"
)

// TestSlavesThatHangOrAreDead: a query is answered although a slave does not answer. The answer
// contains what is available and says what is missing.
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
	for _, more := range []string{"&timeout_ms=200", "&timeout_ms=50", "&timeout_ms=1"} { // a busy machine may have no time for any
		if a := ask(t, url, "usb cable", more, 0); a.Coverage.Complete {
			t.Errorf("with a slave that hangs: %+v", a.Coverage)
		}
	}
	eventually(t, "an answer with what the other slave has", func() bool {
		a := ask(t, url, "usb cable", "&timeout_ms=1000", 0)
		return len(a.Ads) > 0 && slices.Equal(a.Coverage.Missing, []string{"slave-0"})
	})
	ask(t, url, "usb cable", "&timeout_ms=1000&strict=true", http.StatusServiceUnavailable)
	stopped.goOn()
	w.follows(url)
	w.compare(url)

	stopped.kill()
	c.parts["slave-1"].kill()
	a := ask(t, url, "usb cable", "", http.StatusOK)
	if len(a.Ads) > 0 || a.Coverage.Complete || !slices.Equal(a.Coverage.Missing, []string{"slave-0", "slave-1"}) {
		t.Errorf("with all slaves dead: %+v", a)
	}
	ask(t, url, "usb cable", "&strict=true", http.StatusServiceUnavailable)
	c.startSlave(0)
	c.startSlave(1)
	w.follows(url)
	if again := ask(t, url, "usb cable", "&counts=exact", http.StatusOK); again.Matched != whole.Matched {
		t.Errorf("%+v after the slaves returned, %+v before", again, whole)
	}
}
