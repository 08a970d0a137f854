package processtest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// tell sends a POST request to the balancer's admin port and returns the status and the answer.
func (c *cluster) tell(path string) (int, string) {
	c.t.Helper()
	resp, err := http.Post(c.admin+path, "", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// why returns the history of a slice of a slave.
func (c *cluster) why(slave string) string {
	c.t.Helper()
	list := c.slices()
	i := slices.IndexFunc(list, func(s slice) bool { return s.Slave == slave })
	if i < 0 {
		return ""
	}
	resp, err := http.Get(c.admin + "/v1/balance/why/" + fmt.Sprint(list[i].Slice))
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// TestASlaveGoneForGood: the slices of a killed slave keep their history. The slave can be removed
// when they have been filled on the other slave, and stays removed when the balancer restarts.
// Answers are complete and correct without it.
func TestASlaveGoneForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	c, url := moving(t, w)
	refused := func(why string) {
		t.Helper()
		if status, text := c.tell("/v1/slaves/slave-1/remove"); status != http.StatusConflict || !strings.Contains(text, why) {
			t.Errorf("%d %s, want %q", status, text, why)
		}
	}
	refused("stop it first")
	c.parts["slave-1"].kill()
	eventually(t, "its slices are told of as away", func() bool {
		text := c.why("slave-1")
		return strings.Contains(text, `"verdict":"away"`) && strings.Contains(text, "answers are incomplete") && strings.Contains(text, "evacuate_after")
	})
	refused("slices: drain it")
	if status, text := c.tell("/v1/slaves/slave-1/drain"); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	eventually(t, "it is removed", func() bool {
		status, text := c.tell("/v1/slaves/slave-1/remove")
		if status != http.StatusOK && status != http.StatusConflict {
			t.Fatalf("%d %s", status, text)
		}
		return status == http.StatusOK
	})
	check := func() {
		t.Helper()
		eventually(t, "answers are complete without it", func() bool {
			return ask(t, url, "usb", "", http.StatusOK).Coverage.Complete
		})
		w.compare(url)
		if list := slaves(t, c.admin); len(list) != 1 || list[0].Name != "slave-0" {
			t.Errorf("%+v", list)
		}
	}
	check()
	if status, text := c.tell("/v1/slaves/slave-1/remove"); status != http.StatusNotFound {
		t.Errorf("removed twice: %d %s", status, text)
	}
	c.parts["balancer"].kill()
	c.startBalancer()
	eventually(t, "slave-0 is back", func() bool { list := slaves(t, c.admin); return len(list) == 1 && list[0].Serving })
	check()
	c.startSlave(1) // it comes back after all, with its old store
	eventually(t, "it is a slave again, without slices", func() bool {
		return slices.ContainsFunc(slaves(t, c.admin), func(s slaveState) bool { return s.Name == "slave-1" && s.Serving && s.Groups == 0 })
	})
	w.compare(url)
}
