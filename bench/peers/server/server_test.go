package server_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"adshard/bench/peers/server"
	"adshard/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func shell(t *testing.T, u *server.User, script string) (*server.Process, string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	p, err := server.Start(server.Config{Name: "test", Program: "/bin/sh", Args: []string{"-c", script}, Log: log, User: u, Orphan: syscall.SIGKILL})
	if err != nil {
		t.Fatal(err)
	}
	return p, log
}

func TestMemoryCountsChildrenUntilStop(t *testing.T) {
	p, _ := shell(t, nil, "trap : TERM; sleep 600 & read x </dev/null; wait")
	if n, err := p.Memory(); err != nil || n == 0 {
		t.Errorf("it holds %d bytes, %v", n, err)
	}
	select {
	case <-p.Ended():
		t.Error("it ended before it was stopped")
	default:
	}
	if err := p.Stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	<-p.Ended()
	if n, err := p.Memory(); err != nil || n != 0 {
		t.Errorf("after its end it holds %d bytes, %v", n, err)
	}
}

func TestAFailureTellsWhatWasSaid(t *testing.T) {
	p, _ := shell(t, nil, "echo the disk is on fire; exit 3")
	err := p.Wait()
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "the disk is on fire") {
		t.Errorf("its error is %v", err)
	}
}

func TestNoSuchProgram(t *testing.T) {
	_, err := server.Start(server.Config{Name: "test", Program: "/nowhere", Log: filepath.Join(t.TempDir(), "log")})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("its error is %v, want one of kind %v", err, fault.Unavailable)
	}
}

func TestUnprivilegedReachesItsDirectory(t *testing.T) {
	u, err := server.Unprivileged("nobody")
	if err != nil || u == nil {
		t.Skipf("only root runs programs as somebody else: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "own") // below a directory that only root may enter
	if err := u.Own(dir); err != nil {
		t.Fatal(err)
	}
	p, log := shell(t, u, "id -u; echo here >"+dir+"/file")
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(log)
	if err != nil || strings.TrimSpace(string(said)) != strconv.Itoa(int(u.ID)) {
		t.Errorf("it ran as %q, %v, want %d", said, err, u.ID)
	}
	if n, err := server.DiskOf(dir); err != nil || n != 5 {
		t.Errorf("it wrote %d bytes, %v, want 5", n, err)
	}
}
