package processtest

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"adshard/internal/node/up"
)

// pid reads the process id from a line "pid N …".
func pid(t *testing.T, rest string) int {
	t.Helper()
	fields := strings.Fields(rest)
	if len(fields) < 2 || fields[0] != "pid" {
		t.Fatalf("no process id in %q", rest)
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// alive reports whether a process is still running. A zombie process is not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestUpInProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	cfg := up.DefaultConfig()
	cfg.DB, cfg.Data, cfg.HTTP, cfg.Admin, cfg.Processes = w.url(), dir(t, "data"), anyPort, anyPort, true
	cfg.Memory, cfg.Slaves, cfg.Distributors, cfg.Explain, cfg.NoRestart = 512<<20, 3, 2, "admin", true
	for _, end := range []string{"kill", "stop"} {
		up := start(t, "up", cfg)
		url := up.line("ready ")
		children := []int{pid(t, up.line("balancer ")), pid(t, up.line("master "))}
		for i := range 3 {
			children = append(children, pid(t, up.line("slave "+strconv.Itoa(i)+" ")))
		}
		for i := range 2 {
			children = append(children, pid(t, up.line("distributor "+strconv.Itoa(i)+" ")))
		}
		w.compare(url)
		_, master, _ := strings.Cut(up.line("master "), " admin ")
		for base, status := range map[string]int{url: http.StatusForbidden, master: http.StatusOK} {
			res, err := http.Get(base + "/v1/explain?q=usb&timeout_ms=5000")
			if err != nil {
				t.Fatal(err)
			}
			if _ = res.Body.Close(); res.StatusCode != status {
				t.Errorf("explain at %s: %s", base, res.Status)
			}
		}
		if list := slaves(t, up.line("admin ")); len(list) != 3 {
			t.Fatalf("slaves %+v", list)
		}

		// A killed slave is missing, and stays missing if there are no restarts.
		if err := syscall.Kill(children[3], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		a := ask(t, url, "usb", "", http.StatusOK)
		if a.Coverage.Complete || !slices.Equal(a.Coverage.Missing, []string{"slave-1"}) {
			t.Fatalf("%+v", a.Coverage)
		}
		ask(t, url, "usb", "&strict=true", http.StatusServiceUnavailable)

		// The children exit when their parent ends, however it ends.
		if end == "kill" {
			_ = syscall.Kill(up.cmd.Process.Pid, syscall.SIGKILL)
		} else {
			up.stop()
		}
		eventually(t, "all children are gone after "+end, func() bool { return !slices.ContainsFunc(children, alive) })
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestUpRestartsWhatDies: each part comes back after kill -9 with its addresses and data, including
// when several are killed at once, and answers are complete and correct again.
func TestUpRestartsWhatDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	cfg := up.DefaultConfig()
	cfg.DB, cfg.Data, cfg.HTTP, cfg.Admin, cfg.Processes = w.url(), dir(t, "data"), anyPort, anyPort, true
	cfg.Memory, cfg.Distributors, cfg.Slaves = 384<<20, 1, 2
	up := start(t, "up", cfg)
	url, admin := up.line("ready "), up.line("admin ")
	parts := []string{"balancer ", "master ", "distributor 0 ", "slave 0 ", "slave 1 "}
	for round, killed := range [][]string{parts[:1], parts[1:2], parts[2:3], parts[3:4], parts} {
		before := map[string]string{}
		for _, name := range killed {
			before[name] = up.last(name)
			if err := syscall.Kill(pid(t, before[name]), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		w.write(round, round+1) // changes made meanwhile arrive
		for name, rest := range before {
			eventually(t, name+"is back", func() bool { return up.last(name) != rest })
			_, was, _ := strings.Cut(strings.TrimPrefix(rest, "pid "), " ")
			if _, is, _ := strings.Cut(strings.TrimPrefix(up.last(name), "pid "), " "); is != was {
				t.Errorf("%swas at %q and is at %q", name, was, is)
			}
		}
		http.DefaultClient.CloseIdleConnections()
		w.follows(url)
		w.compare(url)
	}
	eventually(t, "the balancer has all groups on the slaves that it had", func() bool {
		list := slaves(t, admin)
		return len(list) == 2 && groupsOf(list, "slave-0")+groupsOf(list, "slave-1") == 160
	})
	http.DefaultClient.CloseIdleConnections()
}

// TestFailedUpInProcessesClaimsNothing: when one of the parts cannot start, the directory of stores
// is left unlocked, as before.
func TestFailedUpInProcessesClaimsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	taken, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := up.DefaultConfig()
	cfg.DB, cfg.Data, cfg.HTTP, cfg.Admin, cfg.Processes = w.url(), dir(t, "data"), taken.Addr().String(), anyPort, true
	cfg.Memory, cfg.Slaves = 256<<20, 1
	up := start(t, "up", cfg)
	select {
	case <-up.ended:
	case <-time.After(patience):
		t.Fatal("up goes on though its master has no port")
	}
	if up.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", up.cmd.ProcessState)
	}
	if left, err := os.ReadDir(cfg.Data); !errors.Is(err, fs.ErrNotExist) && len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
