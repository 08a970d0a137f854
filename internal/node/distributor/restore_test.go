package distributor

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/fault"
	"adshard/internal/node/health"
	"adshard/internal/node/nodetest"
)

// reader returns a distributor that has read the items of a database and does not follow a
// balancer.
func reader(t *testing.T, db backend.Store) *Distributor {
	t.Helper()
	p := New("d", "there:1", DefaultDataConfig(), balance.ByOwner, db, nil, health.New(), slog.New(slog.DiscardHandler))
	if err := p.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestASnapshotAheadOfTheFeedIsCompared: a bucket may be built from a snapshot that is newer than
// the last change from the feed. If the database is then restored to a state between the two, the
// last change is in both histories but the snapshot is in only one of them.
func TestASnapshotAheadOfTheFeedIsCompared(t *testing.T) {
	for name, after := range map[string]func(r *nodetest.Database){
		"nothing was written since": func(*nodetest.Database) {},
		"as much was written since": func(r *nodetest.Database) { r.Write(4, 2, 2, 7_000_000) },
	} {
		t.Run(name, func(t *testing.T) {
			r := nodetest.NewDatabase(t)
			r.Write(3, 2, 2, 1_000_000)
			copied := r.Backup()
			p := reader(t, r.DB)
			r.Write(4, 2, 2, 2_000_000) // the feed has not delivered this yet
			var key balance.Key
			p.index.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool { key = k; return false })
			builder, release := p.builders.Acquire()
			made, err := p.bucket(t.Context(), builder, delivery.Build{Clock: p.fed.Clock, MaxBytes: 1 << 20, Entries: []delivery.Entry{{Key: key}}})
			release()
			if err != nil || len(made.data.Items) != 1 || p.built.Clock <= p.fed.Clock {
				t.Fatalf("a bucket: %v, built from clock %d, the feed is at %d", err, p.built.Clock, p.fed.Clock)
			}
			r.Must(p.sameHistory(t.Context()))

			r.Restore(copied)
			after(r)
			p.db = r.DB
			if at, err := r.DB.At(t.Context(), p.fed.Clock); err != nil || at.Mark != p.fed.Mark {
				t.Fatalf("the change read is %v, %v; it should be in both histories", at, err)
			}
			if err := p.sameHistory(t.Context()); !fault.Is(err, fault.Unavailable) {
				t.Errorf("after the restore: %v", err)
			}
			r.Must(p.Load(t.Context()))
			r.Must(p.sameHistory(t.Context()))
		})
	}
}

// unreadable is a database of which no snapshot can be taken while `set` is true.
type unreadable struct {
	backend.Store
	set    atomic.Bool
	failed atomic.Int32 // number of failed snapshots
}

func (u *unreadable) Snapshot(ctx context.Context) (backend.Snapshot, error) {
	if u.set.Load() {
		u.failed.Add(1)
		return nil, fault.New(fault.Corrupt, "unreadable", errors.New("disk I/O error"))
	}
	return u.Store.Snapshot(ctx)
}

// TestAFailedReloadIsTriedAgain: a distributor whose log was replaced tries to read all items again
// until it succeeds. It reports meanwhile that it cannot, and follows the log afterwards.
func TestAFailedReloadIsTriedAgain(t *testing.T) {
	r := nodetest.NewDatabase(t)
	r.Write(3, 2, 2, 1_000_000)
	db := &unreadable{Store: r.DB}
	p := reader(t, db)
	p.fed.Mark++ // pretends that there was a change that is not in the log
	db.set.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.followFeed(ctx) }()
	until := func(what string, ok func() bool) {
		t.Helper()
		for ; !ok(); time.Sleep(2 * time.Millisecond) {
			if ctx.Err() != nil {
				t.Fatalf("not within a minute: %s; %v", what, p.health.Failures())
			}
		}
	}
	until("reported, and tried again", func() bool {
		return db.failed.Load() > 1 && slices.ContainsFunc(p.health.Failures(), func(s string) bool { return strings.Contains(s, "disk I/O error") })
	})
	db.set.Store(false)
	until("no longer reported", func() bool { return len(p.health.Failures()) == 0 })
	r.Write(5, 2, 2, 2_000_000)
	newest, err := r.DB.Newest(t.Context())
	r.Must(err)
	until("followed", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.fed == newest
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}
