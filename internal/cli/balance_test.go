package cli

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"adshard/internal/node/admin"
	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/metrics"
)

// serveControl serves a balancer's admin port.
func serveControl(t *testing.T, c admin.Control) string {
	t.Helper()
	s := httptest.NewServer(admin.New(admin.Config{
		Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Control: c, Log: slog.New(slog.DiscardHandler)}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestBalanceOutputs runs the commands of testdata/balance against a balancer of admintest; -rewrite replaces the
// expected outputs.
func TestBalanceOutputs(t *testing.T) {
	datadriven.Walk(t, "testdata/balance", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c := admintest.NewControl()
			if d.Cmd == "waiting" {
				c.Status = &api.BalanceStatus{Strategy: "original", Waiting: "1 of 3 slaves have joined", MaxOverMean: 1, LowerBound: 1}
			}
			if d.Cmd == "idle" {
				c.Status.Idle, c.Status.MaxOverMean, c.Status.LowerBound, c.Status.BoundWhy = true, 1, 1, "there is no load"
				c.Status.LeastMove = api.LeastMove{}
				for i := range c.Status.Slaves {
					c.Status.Slaves[i].Load, c.Status.Slaves[i].OverMean = 0, 1
				}
			}
			args := append(strings.Fields(d.Input), "--addr", serveControl(t, c))
			status, out, errOut := run(t, "adshard", args...)
			if status != exitDone {
				out += fmt.Sprintf("exit status %d\n", status)
			}
			if errOut != "" {
				out += "-- standard error\n" + errOut
			}
			return strings.ReplaceAll(out, args[len(args)-1], "ADDR")
		})
	})
}

// TestBalanceIsTold checks which calls to the balancer each command makes.
func TestBalanceIsTold(t *testing.T) {
	for command, want := range map[string][]string{
		"balance pause":                           {"pause true"},
		"balance resume":                          {"pause false"},
		"balance replicas 2":                      {"replicas 2"},
		"balance strategy random":                 {"strategy random map[]"},
		"balance move 7 slave-2 --json --no-wait": {"move 7 slave-2"},
		"balance strategy weighted-move --set a=1 --set b=x=y --set c=": {"strategy weighted-move map[a:1 b:x=y c:]"},
		"slaves add 10.0.0.9:7100":                                      {"add 10.0.0.9:7100"},
		"slaves remove slave-2":                                         {"remove slave-2"},
		"slaves drain slave-1 --no-wait":                                {"drain slave-1"},
	} {
		c := admintest.NewControl()
		status, out, errOut := run(t, "adshard", append(strings.Fields(command), "--addr", serveControl(t, c))...)
		if got := c.Calls(); status != exitDone || out == "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d %q %q, told %q; want %q", command, status, out, errOut, got, want)
		}
	}
}

// TestMoveWaits: the command prints each step and the result, one line each.
func TestMoveWaits(t *testing.T) {
	phases := func(end *api.SliceStory, phases ...api.MovePhase) *admintest.Control {
		c := admintest.NewControl()
		begin := c.Stories[7][0]
		c.Stories[7] = nil
		for i, p := range phases {
			story, move := *begin, *begin.Move
			move.Phase, move.Certified, story.Move = p, 40*i, &move
			c.Stories[7] = append(c.Stories[7], &story)
		}
		if end != nil {
			c.Stories[7] = append(c.Stories[7], end)
		}
		return c
	}
	there := &api.SliceStory{Slice: 7, Slave: "slave-2", Items: 812}
	back := &api.SliceStory{Slice: 7, Slave: "slave-0", Events: []api.Event{{Text: "cancelled: the copy on slave-2 differs"}}}
	for name, c := range map[string]struct {
		control *admintest.Control
		status  int
		out     string
		says    []string
	}{
		"done": {phases(there, api.MovePhaseCopying, api.MovePhaseCopying, api.MovePhaseSwitched), exitDone, "slice 7 is on slave-2: 812 ad groups\n",
			[]string{"slice 7 to slave-2: copying\n", "slice 7 to slave-2: comparing, 40 of 64\n", "slice 7 to slave-2: switched\n"}},
		"cancelled": {phases(back, api.MovePhaseCopying), exitFailed, "",
			[]string{"slice 7 was not moved and is still on slave-0: cancelled: the copy on slave-2 differs"}},
		"gone": {func() *admintest.Control { c := phases(nil); return c }(), exitFailed, "", []string{"there is no slice 7"}},
	} {
		status, out, errOut := run(t, "adshard", "balance", "move", "7", "slave-2", "--addr", serveControl(t, c.control))
		if status != c.status || out != c.out {
			t.Errorf("%s: %d %q %q", name, status, out, errOut)
		}
		for _, line := range c.says {
			if strings.Count(errOut, line) != 1 {
				t.Errorf("%s: %q is not once in %q", name, line, errOut)
			}
		}
	}
}

// TestMoveBrokenOff: Ctrl-C ends the wait, but not the move.
func TestMoveBrokenOff(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := admintest.NewControl()
	var out, errOut bytes.Buffer
	go func() {
		for len(c.Calls()) == 0 && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	status := Main(ctx, "adshard", []string{"balance", "move", "7", "slave-2", "--addr", serveControl(t, c)},
		Streams{In: strings.NewReader(""), Out: &out, Err: &errOut})
	if status != exitFailed || out.String() != "" || len(c.Calls()) != 1 {
		t.Errorf("%d %q %q %q", status, out.String(), errOut.String(), c.Calls())
	}
}

// TestDrainWaits: the command prints how many slices are left, and the result. It keeps waiting while the balancer is
// away.
func TestDrainWaits(t *testing.T) {
	lists := func(states ...api.Slave) *admintest.Control {
		c := admintest.NewControl()
		for _, v := range states {
			v.Name = "slave-1"
			c.Lists = append(c.Lists, &api.SlaveList{Slaves: []api.Slave{v}})
		}
		return c
	}
	draining := api.Slave{State: api.SlaveStateDraining, Slices: 2, MovingOut: 1}
	for name, c := range map[string]struct {
		control *admintest.Control
		status  int
		out     string
		says    string
	}{
		"done": {lists(draining, api.Slave{State: api.SlaveStateDraining}, api.Slave{State: api.SlaveStateDrained}), exitDone,
			"slave-1 is drained and can be stopped\n", "slave-1: 2 of 3 slices left\nslave-1: 0 of 3 slices left\n"},
		"taken back": {lists(draining, api.Slave{State: api.SlaveStateActive}), exitFailed, "", "it was added back"},
	} {
		addr := serveControl(t, c.control)
		if name == "done" {
			addr = away(t, addr, 2)
		}
		status, out, errOut := run(t, "adshard", "slaves", "drain", "slave-1", "--addr", addr)
		if status != c.status || out != c.out || !strings.Contains(strings.ReplaceAll(errOut, "the balancer is away\n", ""), c.says) {
			t.Errorf("%s: %d %q %q", name, status, out, errOut)
		}
	}
}

// away starts a proxy to a server that answers every nth call with 503.
func away(t *testing.T, to string, nth int32) string {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%nth == 0 {
			http.Error(w, "away", http.StatusBadGateway)
			return
		}
		http.Redirect(w, r, to+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestWatchLines(t *testing.T) {
	for _, command := range []string{"balance status", "slaves list"} {
		ctx, cancel := context.WithCancel(context.Background())
		var out writerOnce
		out.first = cancel
		status := Main(ctx, "adshard", append(strings.Fields(command), "--watch", "--addr", serveControl(t, admintest.NewControl())),
			Streams{In: strings.NewReader(""), Out: &out, Err: &out})
		if status != exitDone || strings.Count(out.String(), "\n") != 1 || !strings.HasPrefix(out.String(), "view 42") {
			t.Errorf("%s: %d %q", command, status, out.String())
		}
	}
}

// writerOnce is a buffer that reports its first write.
type writerOnce struct {
	bytes.Buffer
	first func()
}

func (w *writerOnce) Write(b []byte) (int, error) {
	w.first()
	return w.Buffer.Write(b)
}
