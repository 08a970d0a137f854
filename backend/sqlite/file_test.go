package sqlite

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/fault"
)

// scene is a database that is open while its file is changed.
type scene struct {
	t            *testing.T
	s            *Store
	path, backup string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	dir := t.TempDir()
	x := &scene{t: t, path: filepath.Join(dir, "ads.db"), backup: filepath.Join(dir, "backup.db")}
	x.s = opened(t, x.path)
	x.must(write(t.Context(), x.s, 0, 3000))
	ByBackup(t, x.path, x.backup)
	x.must(write(t.Context(), x.s, 1, 10))
	return x
}

func (x *scene) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *scene) remove(suffixes ...string) {
	x.t.Helper()
	for _, suffix := range suffixes {
		x.must(os.Remove(x.path + suffix))
	}
}

func (x *scene) rename(from, to string) { x.t.Helper(); x.must(os.Rename(from, to)) }

// copyTo copies the content of a file to another, which is created or overwritten in place.
func (x *scene) copyTo(from, to string) {
	x.t.Helper()
	content, err := os.ReadFile(from)
	x.must(err)
	x.must(os.WriteFile(to, content, 0o600))
}

// other creates another database.
func (x *scene) other() string {
	x.t.Helper()
	path := filepath.Join(x.t.TempDir(), "other.db")
	s := opened(x.t, path)
	x.must(write(x.t.Context(), s, 0, 10))
	x.must(s.Close())
	return path
}

// attempts makes each kind of call to the store and returns the errors.
func (x *scene) attempts() map[string]error {
	ctx := x.t.Context()
	errs := map[string]error{
		"health":      x.s.Health(ctx),
		"transaction": write(ctx, x.s, 2, 1),
		"budget":      x.s.SetBudget(ctx, 1, backend.BudgetMark{Exhausted: true}),
		"control":     x.s.SaveControl(ctx, "k", []byte("v")),
		"wait":        x.s.Wait(ctx, backend.Position{Clock: 1 << 40}),
	}
	_, errs["newest"] = x.s.Newest(ctx)
	_, errs["changes"] = x.s.Changes(ctx, backend.Position{}, 10)
	_, errs["counts"] = x.s.Counts(ctx)
	n, err := x.s.Snapshot(ctx)
	if errs["snapshot"] = err; err == nil {
		n.Close()
	}
	return errs
}

// healthy waits until the store works, and returns how many groups it has.
func (x *scene) healthy() uint64 {
	x.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for x.s.Health(x.t.Context()) != nil {
		if time.Now().After(deadline) {
			x.t.Fatal(x.s.Health(x.t.Context()))
		}
		time.Sleep(time.Millisecond)
	}
	n, err := x.s.Counts(x.t.Context())
	x.must(err)
	x.must(write(x.t.Context(), x.s, int(n.Groups), 1))
	return n.Groups
}

// TestLostFile: whatever happens to the file, nothing more is read from it and no write to it is acknowledged. The
// store works again when the same database is back.
func TestLostFile(t *testing.T) {
	all := []string{"", "-wal", "-shm"}
	for _, c := range []struct {
		name   string
		happen func(x *scene)
		says   string
		heal   func(x *scene) // puts the file back, or nil if only a restart helps
		groups uint64         // groups in the database afterwards
	}{
		{"removed, a backup is put there", func(x *scene) { x.remove(all...) }, "was removed",
			func(x *scene) { x.copyTo(x.backup, x.path) }, 1},
		{"moved away and back", func(x *scene) { x.rename(x.path, x.path+".away") }, "was removed or renamed",
			func(x *scene) { x.rename(x.path+".away", x.path) }, 2},
		{"a backup put over it beside the old log", func(x *scene) { x.rename(x.backup, x.path) }, "remove ",
			func(x *scene) { x.remove("-wal", "-shm") }, 1},
		{"another database put over it", func(x *scene) { x.remove(all...); x.rename(x.other(), x.path) }, "is another database now, with the id ",
			func(x *scene) { x.rename(x.backup, x.path) }, 1},
		{"an empty file put over it", func(x *scene) { x.remove(all...); x.must(os.WriteFile(x.path, nil, 0o600)) }, "is not a database",
			func(x *scene) { x.remove(""); x.rename(x.backup, x.path) }, 1},
		{"emptied", func(x *scene) { x.must(os.Truncate(x.path, 0)) }, "emptied or overwritten", nil, 0},
		{"cut", func(x *scene) { x.must(os.Truncate(x.path, 3*4096)) }, "emptied or overwritten", nil, 0},
		{"another database copied into it", func(x *scene) { x.copyTo(x.other(), x.path) }, "emptied or overwritten", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newScene(t)
			x.must(x.s.checkpoint())
			x.must(x.s.SaveControl(t.Context(), "k", nil))
			x.losesUses(func() { c.happen(x) })
			x.refuses(2 * reopenEvery) // the store looks for the file again meanwhile
			x.complains(c.says)
			if c.heal == nil {
				x.leavesAlone()
				return
			}
			c.heal(x)
			if n := x.healthy(); n != c.groups {
				t.Errorf("%d groups are there, want %d", n, c.groups)
			}
		})
	}
}

// losesUses loses the file while a transaction, a snapshot and a wait are under way. Each must fail.
func (x *scene) losesUses(lose func()) {
	x.t.Helper()
	ctx := x.t.Context()
	tx, err := x.s.Begin(ctx)
	x.must(err)
	snap, err := x.s.Snapshot(ctx)
	x.must(err)
	at, err := x.s.Newest(ctx)
	x.must(err)
	waiting := make(chan error, 1)
	go func() {
		var err error
		for err == nil { // it may see the change below before the file is lost
			err = x.s.Wait(ctx, at)
		}
		waiting <- err
	}()
	_, err = tx.Advertiser(ctx, "late")
	x.must(err)
	lose()
	if err := tx.Commit(ctx); !fault.Is(err, fault.Unavailable) {
		x.t.Errorf("a transaction was committed to a lost file: %v", err)
	}
	if err := <-waiting; !fault.Is(err, fault.Unavailable) {
		x.t.Errorf("wait: %v", err)
	}
	if _, err := snap.Items(ctx, []uint64{1}); !fault.Is(err, fault.Unavailable) {
		x.t.Errorf("a snapshot: %v", err)
	}
	x.must(snap.Close())
}

// refuses makes all kinds of calls, again and again for some time. All must be refused.
func (x *scene) refuses(d time.Duration) {
	x.t.Helper()
	for end := time.Now().Add(d); !x.t.Failed(); {
		last := time.Now().After(end)
		for name, err := range x.attempts() {
			if !fault.Is(err, fault.Unavailable) {
				x.t.Errorf("%s: %v", name, err)
			}
		}
		if last {
			return
		}
	}
}

// complains waits until the store's health says what has happened to the file.
func (x *scene) complains(says string) {
	x.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		err := x.s.Health(x.t.Context())
		if err != nil && strings.Contains(err.Error(), says) {
			return
		}
		if err == nil || time.Now().After(end) {
			x.t.Errorf("it says %v, not %q", err, says)
			return
		}
	}
}

// leavesAlone closes the store, which must no longer write to the file.
func (x *scene) leavesAlone() {
	x.t.Helper()
	before, err := os.ReadFile(x.path)
	x.must(err)
	x.must(x.s.Close())
	if after, err := os.ReadFile(x.path); err != nil || !bytes.Equal(before, after) {
		x.t.Errorf("closing changed the file: %v", err)
	}
}

// TestReplacedAtOnce: a backup that replaced the file unnoticed has another history, and reads return the backup's
// data.
func TestReplacedAtOnce(t *testing.T) {
	x := newScene(t)
	ctx := t.Context()
	before, err := x.s.Newest(ctx)
	x.must(err)
	x.remove("-wal", "-shm")
	x.rename(x.backup, x.path)
	if n := x.healthy(); n != 1 {
		t.Errorf("%d groups, want those of the backup", n)
	}
	x.must(write(ctx, x.s, 5, 1))
	if _, err := x.s.Changes(ctx, before, 1); !fault.Is(err, fault.Conflict) {
		t.Errorf("the position of the history before: %v", err)
	}
}

// TestLogRemoved: without its log a file lacks the latest writes. This program still has the log open, and copies it
// into the file before it opens the file again.
func TestLogRemoved(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm"} {
		x := newScene(t)
		x.remove(suffix)
		if n := x.healthy(); n != 2 {
			t.Errorf("%s removed: %d groups are left of 2", suffix, n)
		}
	}
}

// TestNoFalseAlarm: what SQLite does to the file, even through other connections, is not reported as its loss.
func TestNoFalseAlarm(t *testing.T) {
	x := newScene(t)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := x.s.Health(ctx); err != nil && ctx.Err() == nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	for i, sql := range []string{"PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)",
		"CREATE INDEX by_hand ON keyword (words)", "PRAGMA wal_checkpoint(RESTART)", "DELETE FROM keyword", "VACUUM"} {
		c, err := connect(x.path, 5*time.Second)
		x.must(err)
		x.must(c.exec(sql))
		x.must(c.Close())
		x.must(write(ctx, x.s, 10+i, 2000))
		x.must(x.s.checkpoint())
	}
	cancel()
	x.must(<-failed)
}

// checkpoint copies the log into the file.
func (s *Store) checkpoint() error {
	c, err := s.pool.take(context.Background(), true)
	if err != nil {
		return err
	}
	defer s.pool.give(c, true)
	return c.exec("PRAGMA wal_checkpoint(PASSIVE)")
}

// TestEmptyFileIsNoDatabase: only a program that may create databases turns an empty file into one.
func TestEmptyFileIsNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{}); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "is an empty file") {
		t.Error(err)
	}
	opened(t, path)
}

// TestPrivate: files have private permissions, since advertisers' bids are secret.
func TestPrivate(t *testing.T) {
	x := newScene(t)
	for _, suffix := range suffixes {
		if info, err := os.Stat(x.path + suffix); err != nil || info.Mode().Perm() != fs.FileMode(0o600) {
			t.Errorf("%s: %v, %v", suffix, info.Mode(), err)
		}
	}
}
