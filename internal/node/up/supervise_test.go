package up

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/internal/node/slave"
)

func TestPausesGrowAndBeginAnew(t *testing.T) {
	p := pauses{first: 100 * time.Millisecond, longest: time.Second, settled: time.Minute}
	var pause time.Duration
	for _, step := range []struct{ ran, want time.Duration }{
		{time.Hour, 100 * time.Millisecond}, {time.Second, 200 * time.Millisecond}, {0, 400 * time.Millisecond}, {0, 800 * time.Millisecond},
		{0, time.Second}, {59 * time.Second, time.Second}, {time.Minute, 100 * time.Millisecond}, {0, 200 * time.Millisecond},
	} {
		if pause = p.after(pause, step.ran); pause != step.want {
			t.Errorf("a pause of %v after %v, want %v", pause, step.ran, step.want)
		}
	}
}

// text is a buffer for several goroutines.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *text) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(b)
}

func (w *text) count(s string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.b.String(), s)
}

// TestSupervisionNeverGivesUp: a child that ends as soon as it listens, then before it
// does, is started again and again, at the port it had, with pauses that grow, however long it took to listen; each time the log says why, and
// nothing is started once up ends.
func TestSupervisionNeverGivesUp(t *testing.T) {
	before := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, before)
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	script := fmt.Sprintf("#!/bin/sh\ncp \"$3\" %s/config\necho start >>%[1]s/starts\n"+
		"[ -e %[1]s/broken ] && exit 4\necho slave 0 listening 127.0.0.1:7777\n[ -e %[1]s/stay ] && exec sleep 600\nexit 3\n", dir)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var out, log text
	c, err := newChildren(dir, &out, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c.program, c.restart = program, true
	c.pauses = pauses{first: time.Millisecond, longest: 8 * time.Millisecond, settled: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := slave.DefaultConfig()
	cfg.Listen = loopback
	p := slavePart(0, &cfg)
	listens := p.listens
	p.listens = func(ctx context.Context, n *child) (string, error) {
		n.began = n.began.Add(-2 * c.pauses.settled) // as if it had loaded for so long: that is no good time
		return listens(ctx, n)
	}
	if err := c.start(ctx, p); err != nil {
		t.Fatal(err)
	}
	eventually := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not within %v: %s; the log has %s", patience, what, log.b.String())
			}
		}
	}
	eventually("ends and restarts", func() bool {
		return log.count(`end="exit status 3"`) >= 3 && log.count("a process is back") >= 3 && out.count("listening 127.0.0.1:7777") >= 4
	})
	eventually("pauses that grow although it takes long to listen", func() bool { return log.count("in=8ms") > 0 })
	note := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	note("broken")
	eventually("failed restarts", func() bool { return log.count("cannot be restarted; it is tried again") >= 6 })
	if log.count("in=8ms") == 0 || log.count("in=16ms") > 0 {
		t.Error("the pauses do not grow to the longest one")
	}
	note("stay")
	if err := os.Remove(filepath.Join(dir, "broken")); err != nil {
		t.Fatal(err)
	}
	listening := out.count("listening")
	eventually("a child that stays", func() bool {
		return out.count("listening") > listening && log.count("a process is back") >= out.count("listening")-1
	})
	if b, err := os.ReadFile(filepath.Join(dir, "config")); err != nil || !strings.Contains(string(b), "listen: 127.0.0.1:7777") {
		t.Errorf("%v: the last child was configured with %s", err, b)
	}
	cancel()
	c.stop()
	starts, err := os.ReadFile(filepath.Join(dir, "starts"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if later, err := os.ReadFile(filepath.Join(dir, "starts")); err != nil || len(later) != len(starts) {
		t.Errorf("%v: %d starts, %d later", err, len(starts), len(later))
	}
}
