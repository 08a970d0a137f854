package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/pgtest"
	"adshard/backend/postgres"
	"adshard/fault"
)

// standbyOf starts a standby of a server.
func standbyOf(t *testing.T, primary *pgtest.Server) *pgtest.Server {
	t.Helper()
	standby, err := primary.Standby()
	must(t, err)
	t.Cleanup(func() { must(t, standby.Remove()) })
	must(t, standby.Start())
	return standby
}

// withReplica opens a primary's database with a replica.
func withReplica(t *testing.T, primary, replica *pgtest.Server) *postgres.Store {
	t.Helper()
	dir, _, _ := strings.Cut(strings.SplitAfter(replica.URL("postgres"), "host=")[1], "&")
	s, err := postgres.Open(t.Context(), primary.URL("postgres")+"&replica="+dir, postgres.Options{Create: true})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// filled reads all groups from the replica.
func filled(ctx context.Context, s *postgres.Store, least uint64) (at backend.Position, groups int, err error) {
	n, err := backend.FillSnapshot(ctx, s, least)
	if err != nil {
		return at, 0, err
	}
	defer n.Close()
	for _, err := range n.All(ctx) {
		if err != nil {
			return at, 0, err
		}
		groups++
	}
	return n.Position(), groups, nil
}

// eventually polls until ok returns true, since a standby follows with some delay.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for begun := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > backendtest.Patience {
			t.Fatal("not ", what)
		}
	}
}

// TestReplica fills from a streaming standby, at the standby's position, from which the feed of the primary
// continues. A replica is refused if it is too far behind, of another history or database, or promoted.
func TestReplica(t *testing.T) {
	ctx := t.Context()
	primary := server(t)
	replica := standbyOf(t, primary)
	s := withReplica(t, primary, replica)
	backendtest.Fill(t, s, 600) // more than one chunk
	newest, err := s.Newest(ctx)
	must(t, err)
	eventually(t, "at the newest position", func() bool {
		at, groups, err := filled(ctx, s, newest.Clock)
		if err != nil && !fault.Is(err, fault.Behind) && !fault.Is(err, fault.Unavailable) { // still without the schema
			t.Fatal(err)
		}
		return err == nil && at == newest && groups == 600
	})

	must(t, replica.Do(ctx, "postgres", "SELECT pg_wal_replay_pause()"))
	eventually(t, "paused", func() bool {
		return replica.Do(ctx, "postgres", "DO $$ BEGIN ASSERT pg_get_wal_replay_pause_state() = 'paused'; END $$") == nil
	})
	add(t, s, "late", "G", "late")
	late, err := s.Newest(ctx)
	must(t, err)
	at, groups, err := filled(ctx, s, newest.Clock)
	if err != nil || at != newest || groups != 600 {
		t.Errorf("behind: %d groups at %v, %v", groups, at, err)
	}
	changes, err := s.Changes(ctx, at, 1000)
	if err != nil || len(changes) != int(late.Clock-newest.Clock) {
		t.Errorf("the feed goes on from %v with %v, %v", at, changes, err)
	}
	if _, _, err := filled(ctx, s, late.Clock); !fault.Is(err, fault.Behind) {
		t.Errorf("behind what is needed: %v", err)
	}
	if _, err := s.Compact(ctx, late.Clock, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	must(t, s.Hold(ctx, "reader", late.Clock))
	if _, err := s.Compact(ctx, late.Clock, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := filled(ctx, s, 0); !fault.Is(err, fault.Stale) || !strings.Contains(err.Error(), "compacted") {
		t.Errorf("behind the compaction: %v", err)
	}

	must(t, replica.Do(ctx, "postgres", "SELECT pg_wal_replay_resume()"))
	eventually(t, "caught up", func() bool { at, _, err := filled(ctx, s, late.Clock); return err == nil && at == late })
	must(t, replica.Do(ctx, "postgres", "SELECT pg_wal_replay_pause()"))
	eventually(t, "paused", func() bool {
		return replica.Do(ctx, "postgres", "DO $$ BEGIN ASSERT pg_get_wal_replay_pause_state() = 'paused'; END $$") == nil
	})
	must(t, primary.Do(ctx, "postgres", "UPDATE adshard.compacted SET mark = mark # 1"))
	if _, _, err := filled(ctx, s, 0); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "follows another server") {
		t.Errorf("another history: %v", err)
	}
	must(t, primary.Do(ctx, "postgres", "UPDATE adshard.compacted SET mark = mark # 1"))
	must(t, primary.Do(ctx, "postgres", "UPDATE adshard.state SET database_id = 'another'"))
	if _, _, err := filled(ctx, withReplica(t, primary, replica), 0); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "a different id") {
		t.Errorf("another database: %v", err)
	}
	must(t, primary.Do(ctx, "postgres", "UPDATE adshard.state SET database_id = '"+s.KnownID()+"'"))

	must(t, replica.Promote())
	if _, _, err := filled(ctx, s, 0); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "promoted") {
		t.Errorf("promoted, on a connection from before: %v", err)
	}
	if _, _, err := filled(ctx, withReplica(t, primary, replica), 0); !fault.Is(err, fault.Unavailable) {
		t.Errorf("promoted: %v", err)
	}
}

// TestReplicaAhead: a standby shows a commit while the primary still waits for another, synchronous standby. The
// replica is refused for that time, but not as one of another server.
func TestReplicaAhead(t *testing.T) {
	ctx := t.Context()
	primary := server(t)
	s := withReplica(t, primary, standbyOf(t, primary))
	backendtest.Fill(t, s, 20)
	newest, err := s.Newest(ctx)
	must(t, err)
	fills := func() bool { at, _, err := filled(ctx, s, newest.Clock); return err == nil && at.Clock >= newest.Clock }
	eventually(t, "at the newest position", fills)
	synchronous := func(names string) {
		t.Helper()
		must(t, primary.Do(ctx, "postgres", "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'"))
		must(t, primary.Do(ctx, "postgres", "SELECT pg_reload_conf()"))
	}
	synchronous("nobody")
	eventually(t, "synchronous", func() bool {
		return primary.Do(ctx, "postgres", "DO $$ BEGIN ASSERT current_setting('synchronous_standby_names') = 'nobody'; END $$") == nil
	})
	done := make(chan error, 1)
	go func() { done <- primary.Do(ctx, "postgres", "UPDATE adshard.advertiser SET enabled = NOT enabled") }()
	eventually(t, "ahead", func() bool {
		_, _, err := filled(ctx, s, newest.Clock)
		if err != nil && !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
		return err != nil
	})
	synchronous("")
	must(t, <-done)
	newest.Clock++
	eventually(t, "filled again", fills)
}
