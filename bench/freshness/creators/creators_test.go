package creators

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adshard/bench/freshness"
	"adshard/internal/node/nodetest"
	"adshard/internal/node/offline"
)

const slaves = 2

// building returns a function that builds the barrels of a database in this process.
func building(r *nodetest.Database) func(context.Context, string) error {
	return func(ctx context.Context, out string) error {
		cfg := offline.DefaultConfig()
		cfg.DB, cfg.Slaves, cfg.Out = r.URL(), slaves, out
		_, err := offline.Build(ctx, cfg, nil)
		return err
	}
}

// TestSystem: changes reach answers only by whole barrels, no answer lacks the ad while
// slaves switch, and old barrels are removed.
func TestSystem(t *testing.T) {
	for name, each := range map[string]bool{"one creator": false, "a creator for each slave": true} {
		t.Run(name, func(t *testing.T) { testSystem(t, each) })
	}
}

func testSystem(t *testing.T, each bool) {
	r := nodetest.NewDatabase(t)
	r.Write(20, 5, 5, 1_000_000)
	dir := t.TempDir()
	s, err := Start(t.Context(), Config{Build: building(r), Dir: dir, Slaves: slaves, Each: each, CacheBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	course := freshness.Course{
		Store: r.DB, Search: s.URL, Groups: 20, Asked: 4, Rate: 200, Duration: 100 * time.Millisecond, Wholes: 1, Patience: time.Minute, Seed: 1,
	}
	got, err := course.Measure(t.Context())
	if err := errors.Join(err, s.Stop()); err != nil {
		t.Fatal(err)
	}
	if n := got.Ages.Count(); n != 20 || got.Absent > 0 || len(got.Wholes) != 1 || len(got.Mixed) != 1 {
		t.Errorf("%d ages of 20 changes; %d of %d answers without an ad; %v, %v", n, got.Absent, got.Answers, got.Wholes, got.Mixed)
	}
	// The campaign itself, changes at the rate, and the change of all groups: none of these
	// is in an earlier iteration.
	list := s.Iterations()
	if len(list) < 3 {
		t.Errorf("%d iterations", len(list))
	}
	for _, i := range list {
		if i.Built <= 0 || i.Switched <= i.Built {
			t.Errorf("%+v", i)
		}
	}
	for i := range slaves {
		left, err := os.ReadDir(filepath.Join(dir, "slave-"+string(rune('0'+i))))
		if err != nil || len(left) != 1 {
			t.Errorf("slave %d has the barrels %v, %v", i, left, err)
		}
	}
}

// TestBuildFails: after a failed build the system no longer answers, and Stop says why.
func TestBuildFails(t *testing.T) {
	r := nodetest.NewDatabase(t)
	r.Write(2, 2, 2, 1_000_000)
	var builds atomic.Int64
	build, broken := building(r), errors.New("no room")
	cfg := Config{Dir: t.TempDir(), Slaves: slaves, Build: func(ctx context.Context, out string) error {
		if builds.Add(1) > 1 {
			return broken
		}
		return build(ctx, out)
	}}
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	course := freshness.Course{Store: r.DB, Search: s.URL, Groups: 1, Asked: 1, Rate: 10, Duration: time.Second, Patience: time.Minute}
	if _, err := course.Measure(t.Context()); err == nil {
		t.Error("changes were shown that are in no barrel")
	}
	if err := s.Stop(); !errors.Is(err, broken) {
		t.Errorf("stopped: %v", err)
	}
	cfg.Dir, cfg.Build = t.TempDir(), func(context.Context, string) error { return broken }
	if _, err := Start(t.Context(), cfg); !errors.Is(err, broken) || !strings.Contains(err.Error(), "first barrels") {
		t.Errorf("started: %v", err)
	}
}

// TestCopyTree: files and directories are copied, and copying stops when its context is
// done.
func TestCopyTree(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	if err := os.MkdirAll(filepath.Join(from, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("bytes", 1<<16)
	if err := os.WriteFile(filepath.Join(from, "a", "b"), []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(t.Context(), to, from); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "a", "b")); err != nil || string(got) != want {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := copyTree(over, to, from); !errors.Is(err, context.Canceled) {
		t.Errorf("a copy that was cancelled: %v", err)
	}
}
