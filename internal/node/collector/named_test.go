package collector_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/events"
	"adshard/fault"
	"adshard/internal/clustertest"
	"adshard/internal/node/collector"
	"adshard/internal/node/database"
)

// at returns a change of a configuration that names a file of events and sets whether to adopt it.
func at(path string, adopt bool) func(*collector.Config) {
	return func(c *collector.Config) { c.Events, c.AdoptEvents = "sqlite:"+path, adopt }
}

// made creates a file of events, as a collector of another machine would.
func made(t *testing.T, path string) {
	t.Helper()
	s, err := database.OpenEvents(t.Context(), "sqlite:"+path)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until `is` returns true.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > clustertest.Patience {
			t.Fatal(what)
		}
	}
}

// TestATokenCountsInOneDatabase: of several collectors with their own files, only one counts. Another one takes its place when it is
// started with that instruction, and the previous ones stop counting.
func TestATokenCountsInOneDatabase(t *testing.T) {
	r := newRig(t, 1)
	first, other := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "other")
	made(t, other) // a missing file is not created
	a := r.runAt("a", time.Now, at(first, false))
	b := r.runAt("b", time.Now, at(other, false))
	beside := r.runAt("c", time.Now, at(first, false)) // on the same machine
	send := func(c *collector.Collector, token string) int {
		status, _, text := r.post(c.URL(), batch(event("click", token)))
		if status != http.StatusOK && (!strings.Contains(text, "another collector") || strings.Contains(text, "other\"") || strings.Contains(text, r.Path)) {
			t.Errorf("%d %s", status, text)
		}
		return status
	}
	counting := func(want int, in ...*collector.Collector) {
		t.Helper()
		token := r.token(1, 100)
		for _, c := range append(in, in...) {
			send(c, token)
		}
		clicks := uint64(0)
		for _, path := range []string{first, other} {
			s, err := database.OpenEvents(t.Context(), "sqlite:"+path)
			r.Must(err)
			clicks += total(t, s).Clicks
			r.Must(s.Close())
		}
		if clicks != uint64(want) {
			t.Errorf("%d clicks are counted, want %d", clicks, want)
		}
	}
	counting(1, a, b, beside)
	if why := strings.Join(b.Ready(), " "); len(a.Ready())+len(beside.Ready()) > 0 || !strings.Contains(why, "--adopt-events") {
		t.Errorf("ready: %v, %v, %q", a.Ready(), beside.Ready(), why)
	}
	if s, _, text := r.post(b.URL(), batch(event("click", "x"))); s != http.StatusServiceUnavailable {
		t.Errorf("%d %s", s, text)
	}
	adopted := r.runAt("d", time.Now, at(other, true))
	counting(2, a, beside, b, adopted) // b notices that it counts now
	if len(a.Ready()) == 0 || len(adopted.Ready()) > 0 {
		t.Errorf("after it: ready %v, %v", a.Ready(), adopted.Ready())
	}
	eventually(t, "b does not count again", func() bool { return len(b.Ready()) == 0 && len(beside.Ready()) > 0 })
	counting(3, a, b, beside, adopted)
	r.runAt("e", time.Now, at(first, true))
	eventually(t, "a does not count again", func() bool { return len(a.Ready()) == 0 && len(adopted.Ready()) > 0 })
	counting(4, a, b, beside, adopted)
}

// TestOthersDoNotSpend: a collector whose database does not count neither sets nor removes marks.
func TestOthersDoNotSpend(t *testing.T) {
	r := newRig(t, 2)
	first, other := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "other")
	made(t, other)
	a := r.runAt("a", time.Now, at(first, false))
	if status, _, text := r.post(a.URL(), batch(event("click", r.token(1, 60_000)))); status != http.StatusOK {
		t.Fatal(text)
	}
	exhausted := func() bool {
		list, err := collector.Budgets(t.Context(), r.DB, 1)
		r.Must(err)
		return list[0].Exhausted
	}
	eventually(t, "the campaign is not marked", exhausted)
	b := r.runAt("b", time.Now, at(other, false))
	for range 5 { // it makes its own checks every 0.1 s
		time.Sleep(50 * time.Millisecond)
		if !exhausted() {
			t.Fatal("a collector that has counted nothing takes the mark back")
		}
	}
	// The collector that takes its place knows nothing of the day: the mark stays.
	c := r.runAt("c", time.Now, at(other, true))
	if r.Must(c.Sweep(t.Context())); !exhausted() {
		t.Error("the day's budget is spent again")
	}
	r.Must(b.Sweep(t.Context()))
	tomorrow := r.runAt("d", func() time.Time { return time.Now().Add(25 * time.Hour) }, at(other, false))
	if r.Must(tomorrow.Sweep(t.Context())); exhausted() {
		t.Error("the mark of a lost day stays on the next one")
	}
}

// TestAMissingDatabaseIsNoNewOne: if a named file does not exist, the collector does not start and nothing is created. With --adopt-events
// a new file is created. The same file at another place, or an earlier copy of it, counts as the same.
func TestAMissingDatabaseIsNoNewOne(t *testing.T) {
	r := newRig(t, 1)
	path := filepath.Join(t.TempDir(), "events")
	open := func(file string, adopt bool) (clicks uint64, why []string, err error) {
		cfg := collector.DefaultConfig()
		cfg.DB, cfg.HTTP, cfg.Admin = r.URL(), "127.0.0.1:0", ""
		at(file, adopt)(&cfg)
		c, err := r.open(cfg)
		if err != nil {
			return 0, nil, err
		}
		defer c.Close()
		return total(t, c.Store()).Clicks, c.Ready(), nil
	}
	a := r.runAt("a", time.Now, at(path, false))
	copied := path + ".copy"
	r.Must(copyFile(path, copied, a)) // a copy from before the click
	if status, _, text := r.post(a.URL(), batch(event("click", r.token(1, 100)))); status != http.StatusOK {
		t.Fatal(text)
	}
	moved := path + ".moved"
	r.Must(errors.Join(os.Rename(path, moved), os.Rename(path+"-wal", moved+"-wal"), os.Rename(path+"-shm", moved+"-shm")))
	for range 2 {
		if _, _, err := open(path, false); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "--adopt-events") {
			t.Errorf("missing: %v", err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatal("a refused start has made the file")
		}
	}
	r.Must(os.WriteFile(path, nil, 0o600)) // the state that a full disk leaves
	if _, why, err := open(path, false); err == nil && len(why) == 0 {
		t.Error("an empty file counts")
	}
	r.Must(os.Remove(path))
	if clicks, why, err := open(moved, false); err != nil || len(why) > 0 || clicks != 1 {
		t.Errorf("moved: %d, %v, %v", clicks, why, err)
	}
	if clicks, why, err := open(copied, false); err != nil || len(why) > 0 || clicks != 0 {
		t.Errorf("an earlier copy: %d, %v, %v", clicks, why, err)
	}
	if clicks, why, err := open(path, true); err != nil || len(why) > 0 || clicks != 0 {
		t.Errorf("adopted: %d, %v, %v", clicks, why, err)
	}
	if _, why, err := open(moved, false); err != nil || len(why) == 0 {
		t.Errorf("the one before: %v, %v", why, err)
	}
	if name, err := events.Name(t.Context(), r.DB); err != nil || name == "" {
		t.Errorf("%q, %v", name, err)
	}
}

// copyFile copies the file of a collector, as a backup does.
func copyFile(from, to string, c *collector.Collector) error {
	if err := c.Store().Health(context.Background()); err != nil {
		return err
	}
	for _, part := range []string{"", "-wal"} {
		in, err := os.Open(from + part)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(to + part)
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
	}
	return nil
}
