package processtest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adshard/barrels/barreltest"
	"adshard/internal/node/config"
)

// TestAFullDisk: a slave whose small disk is full says so, serves what it has, and continues when
// there is room.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	c := newCluster(t, w)
	disk := barreltest.SmallDisk(t, "96m")
	c.slave[0].Dir = filepath.Join(disk, "slave-0")
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)
	w.compare(url)

	ballast := fill(t, disk)
	w.write(0, 60)
	eventually(t, "slave-0 says that its disk is full", func() bool {
		return strings.Contains(trouble(t, c.admin, "slave-0"), "space")
	})
	if a := ask(t, url, "usb", "", http.StatusOK); !a.Coverage.Complete {
		t.Fatalf("it no longer serves what it has: %+v", a.Coverage)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	w.follows(url)
	w.compare(url)
	eventually(t, "the trouble is over", func() bool { return trouble(t, c.admin, "slave-0") == "" })
}

// TestAFullDiskOfATarget: if the disk of a move's target is full, answers stay complete and the
// move waits or is given up. What the move needs is done when there is room.
func TestAFullDiskOfATarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	disk := barreltest.SmallDisk(t, "96m")
	c := newCluster(t, w)
	c.cfg.Interval, c.cfg.DeadAfter, c.cfg.Linger, c.cfg.MasterLease = 0, time.Second, 100*time.Millisecond, time.Second
	c.slave[0].Dir = filepath.Join(disk, "slave-0")
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)
	ballast := fill(t, disk)
	c.move("slave-1", "slave-0")
	eventually(t, "slave-0 says that its disk is full", func() bool {
		return strings.Contains(trouble(t, c.admin, "slave-0"), "space")
	})
	if a := ask(t, url, "usb", "", http.StatusOK); !a.Coverage.Complete {
		t.Fatalf("incomplete: %+v", a.Coverage)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the move is over", c.still)
	w.follows(url)
	w.compare(url)
}

// fill writes a file until the disk is full.
func fill(t *testing.T, disk string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(disk, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chunk := make([]byte, 1<<20)
	for err == nil {
		_, err = f.Write(chunk)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return f.Name()
}

func trouble(t *testing.T, admin, name string) string {
	t.Helper()
	for _, s := range slaves(t, admin) {
		if s.Name == name {
			return s.Trouble
		}
	}
	return ""
}

// TestASlaveStartedOnAFullDisk: with or without data, the slave says what to do and exits, so that
// its supervisor restarts it. When there is room, it has everything that it had before, and the
// changes since then.
func TestASlaveStartedOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	c := newCluster(t, w)
	disk := barreltest.SmallDisk(t, "96m")
	c.slave[0].Dir = filepath.Join(disk, "slave-0")
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)
	c.parts["slave-0"].kill()
	ballast := fill(t, disk)
	w.write(0, 60)

	for _, dir := range []string{"slave-0", "fresh"} {
		cfg := c.slave[0]
		cfg.Dir, cfg.Balancer = filepath.Join(disk, dir), c.cfg.Listen
		p, said := startToFail(t, "slave", cfg)
		if code := p.ProcessState.ExitCode(); code != 1 || !strings.Contains(said, "space") {
			t.Errorf("%s: it ended with %d and said %q", dir, code, said)
		}
	}
	if a := ask(t, url, "usb", "", http.StatusOK); a.Coverage.Complete {
		t.Error("complete without one of two slaves")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	c.startSlave(0)
	w.follows(url)
	w.compare(url)
}

// startToFail starts this program as a part that is expected to exit by itself, and returns its
// output.
func startToFail(t *testing.T, command string, cfg any) (p *exec.Cmd, said string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), command+".yaml")
	if err := config.WriteFile(file, cfg); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p = exec.CommandContext(ctx, program, command, "--config", file)
	out, err := p.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Fatalf("%v, %v: it said %s", err, ctx.Err(), out)
	}
	return p, string(out)
}
