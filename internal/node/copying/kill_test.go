package copying

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"adshard/barrels/rocks"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// The environment of a child process: the directory to fill, the source, and when the process is
// killed with SIGKILL, which is before its n-th call or a number of microseconds after it has begun
// to read the copy.
const (
	childDir, childSource = "ADSHARD_TEST_COPY_DIR", "ADSHARD_TEST_COPY_SOURCE"
	childCall, childRead  = "ADSHARD_TEST_COPY_CALL", "ADSHARD_TEST_COPY_READ"
)

// child fills a directory and is killed before it finishes.
func child() int {
	number := func(name string) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			return -1
		}
		return n
	}
	conn, err := wire.DialStream(os.Getenv(childSource))
	if err != nil {
		return 1
	}
	at, after := number(childCall), number(childRead)
	client := &tampered{CopiesClient: pb.NewCopiesClient(conn), before: func(call int) error {
		if call == at {
			die()
		}
		return nil
	}}
	cfg := config(os.Getenv(childDir))
	cfg.Log = slog.New(deathly{slog.DiscardHandler, time.Duration(after) * time.Microsecond})
	if _, err := Fill(context.Background(), cfg, client); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// deathly is a log handler that kills the process some time after it has begun to read the copy.
type deathly struct {
	slog.Handler
	after time.Duration // never if negative
}

func (d deathly) Enabled(context.Context, slog.Level) bool { return true }
func (d deathly) Handle(_ context.Context, r slog.Record) error {
	if d.after >= 0 && strings.HasPrefix(r.Message, "reading the copy") {
		go func() { time.Sleep(d.after); die() }()
	}
	return nil
}

// TestKilledAtEachStep: a process that fills a directory is killed before each of its calls, and at
// many moments while it reads the copy and completes it. The next process continues, and the copy
// is correct.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	r.cfg.Most = 64 // a process that is killed at the end leaves its checkpoint
	address := serve(t, r.source())
	kill := func(dir, when string, n int) (died bool) {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir, childSource+"="+address, when+"="+strconv.Itoa(n))
		cmd.Stderr = os.Stderr
		err := cmd.Run()
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if died = ok && status.Signaled() && status.Signal() == syscall.SIGKILL; !died && err != nil {
			t.Fatalf("%s %d: %v", when, n, err)
		}
		return died
	}
	finish := func(dir string) {
		t.Helper()
		if !rocks.Exists(dir) {
			fill(t, config(dir), dial(t, address))
		}
		check(t, dir, 3)
	}
	for n := 0; ; n += 1 + n/6 {
		dir := filepath.Join(t.TempDir(), "copy")
		died := kill(dir, childCall, n)
		finish(dir)
		if !died {
			break
		}
	}
	for n := 0; ; n = n*2 + 500 {
		dir := filepath.Join(t.TempDir(), "copy")
		died := kill(dir, childRead, n)
		finish(dir)
		if !died || n > 1<<21 {
			break
		}
	}
	// One process after the other is killed in the same directory: all progress is kept. When the
	// copy is complete, no fill continues.
	dir := filepath.Join(t.TempDir(), "copy")
	for n := 3; !rocks.Exists(dir) && kill(dir, childCall, n); n += 4 {
		if n > 400 {
			t.Fatal("it never ends")
		}
	}
	finish(dir)
}
