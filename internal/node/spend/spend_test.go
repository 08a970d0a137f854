package spend_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	_ "time/tzdata" // the zones below, whatever the machine has

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
	"adshard/events/token"
	"adshard/fault"
	"adshard/internal/node/database"
	"adshard/internal/node/nodetest"
	"adshard/internal/node/spend"
)

// click adds a click of a campaign on a day to the database of events.
func click(t *testing.T, s store.Store, n, campaign uint64, date string, price uint64) {
	t.Helper()
	at := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	e := store.Event{ID: token.From(at), Kind: store.Click, Day: store.DayOf(date), Token: token.Token{Served: at, Campaign: campaign, Advertiser: 1, Price: price}}
	binary.BigEndian.PutUint64(e.ID[4:], n)
	if _, err := s.Add(t.Context(), []store.Event{e}); err != nil {
		t.Fatal(err)
	}
}

// two makes an advertiser in Tokyo and one in Los Angeles, with a campaign each, and one that spends nothing.
func two(t *testing.T) (*nodetest.Database, []*backend.Campaign) {
	t.Helper()
	d := nodetest.NewDatabase(t)
	tx, err := d.DB.Begin(t.Context())
	d.Must(err)
	defer tx.Rollback()
	for _, zone := range []string{"Asia/Tokyo", "America/Los_Angeles"} {
		a, err := tx.Advertiser(t.Context(), zone)
		d.Must(err)
		d.Must(tx.UpdateAdvertiser(t.Context(), a, backend.AdvertiserPatch{TimeZone: backend.To(zone)}))
		_, err = tx.Campaign(t.Context(), a, "c", backend.CampaignPatch{})
		d.Must(err)
	}
	_, err = tx.Campaign(t.Context(), 1, "idle", backend.CampaignPatch{})
	d.Must(err)
	d.Must(tx.Commit(t.Context()))
	list, err := snapshot(t, d).Campaigns(t.Context(), []uint64{1, 2, 3})
	d.Must(err)
	return d, list
}

func snapshot(t *testing.T, d *nodetest.Database) backend.Snapshot {
	t.Helper()
	s, err := d.DB.Snapshot(t.Context())
	d.Must(err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestToday: what is spent today is that of the day in each advertiser's time zone, and 0 where nothing is.
func TestToday(t *testing.T) {
	d, list := two(t)
	url := "sqlite:" + d.Path + "-events"
	s, err := database.OpenEvents(t.Context(), url)
	d.Must(err)
	defer s.Close()
	click(t, s, 1, 1, "2026-11-24", 100)
	click(t, s, 2, 1, "2026-11-25", 7)
	click(t, s, 3, 1, "2026-11-25", 8)
	click(t, s, 4, 2, "2026-11-24", 1000)
	click(t, s, 5, 2, "2026-11-25", 5000)
	now := time.Date(2026, 11, 24, 14, 59, 59, 0, time.UTC) // the last second of the 24th in Tokyo, the morning of the same day in Los Angeles
	r := &spend.Reader{URL: url, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
	defer r.Close()
	for _, step := range []struct {
		later time.Duration
		want  map[uint64]uint64
	}{
		{0, map[uint64]uint64{1: 100, 2: 1000, 3: 0}},
		{time.Second, map[uint64]uint64{1: 15, 2: 1000, 3: 0}},
		{17*time.Hour - time.Second, map[uint64]uint64{1: 15, 2: 1000, 3: 0}},
		{time.Second, map[uint64]uint64{1: 15, 2: 5000, 3: 0}},
	} {
		now = now.Add(step.later)
		if got := r.Today(t.Context(), snapshot(t, d), list); !maps.Equal(got, step.want) {
			t.Errorf("at %v: %v, want %v", now, got, step.want)
		}
	}
	if got := r.Today(t.Context(), snapshot(t, d), nil); len(got) != 0 {
		t.Errorf("of no campaign: %v", got)
	}
}

// TestOfAnotherDatabase: what was spent in a database of events that does not count is not shown, and the log says which counts; what
// counts is shown as soon as it is named, by readers that have it open, too.
func TestOfAnotherDatabase(t *testing.T) {
	d, list := two(t)
	var log bytes.Buffer
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	r := &spend.Reader{URL: "sqlite:" + d.Path + "-events", Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Named: func(ctx context.Context) (string, error) { return events.Name(ctx, d.DB) }}
	defer r.Close()
	s, err := database.OpenEvents(t.Context(), r.URL)
	d.Must(err)
	defer s.Close()
	click(t, s, 1, 1, "2026-11-24", 100)
	own, err := s.ID(t.Context())
	d.Must(err)
	for _, step := range []struct {
		name  string
		shown bool
	}{{"", true}, {own, true}, {"another", false}, {own, true}} {
		d.Must(d.DB.SaveControl(t.Context(), events.DatabaseKey, []byte(step.name)))
		now = now.Add(time.Minute)
		if got := r.Today(t.Context(), snapshot(t, d), list); (len(got) > 0) != step.shown {
			t.Errorf("%q is named, the own is %s: %v", step.name, own, got)
		}
	}
	if !strings.Contains(log.String(), "another") {
		t.Errorf("the log does not say which: %s", log.String())
	}
}

// TestAway: a database of events that is away is logged once, is not asked again for a while, and is shown again when it
// is back; nothing is known after the end.
func TestAway(t *testing.T) {
	d, list := two(t)
	path := d.Path + "-elsewhere/events"
	var log bytes.Buffer
	now := time.Now()
	r := &spend.Reader{URL: "sqlite:" + path, Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(&log, nil))}
	spends := func(want int) {
		t.Helper()
		if got := r.Today(t.Context(), snapshot(t, d), list); len(got) != want {
			t.Errorf("%v, want %d", got, want)
		}
	}
	spends(0)
	d.Must(os.Mkdir(d.Path+"-elsewhere", 0o750))
	now = now.Add(time.Minute)
	spends(0)
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made by one who only reads")
	}
	s, err := database.OpenEvents(t.Context(), r.URL)
	d.Must(err)
	defer s.Close()
	spends(0) // it failed just now
	now = now.Add(time.Minute)
	spends(3)
	if n := strings.Count(log.String(), "cannot be read"); n != 1 || !strings.Contains(log.String(), path) {
		t.Errorf("told %d times: %s", n, log.String())
	}
	d.Must(r.Close())
	spends(0)
}

// TestNotOfEvents: a file of something else is not made one of events.
func TestNotOfEvents(t *testing.T) {
	d, list := two(t)
	path := filepath.Join(t.TempDir(), "empty")
	d.Must(os.WriteFile(path, nil, 0o600))
	r := &spend.Reader{URL: "sqlite:" + path, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	defer r.Close()
	if got := r.Today(t.Context(), snapshot(t, d), list); got != nil {
		t.Errorf("%v of an empty file", got)
	}
	if v, err := os.Stat(path); err != nil || v.Size() != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestReplaced: events that were restored into the place of others are read at once.
func TestReplaced(t *testing.T) {
	d, list := two(t)
	path := d.Path + "-events"
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	made := func(path string, price uint64) {
		t.Helper()
		s, err := database.OpenEvents(t.Context(), "sqlite:"+path)
		d.Must(err)
		click(t, s, 1, 1, "2026-11-24", price)
		d.Must(s.Close())
	}
	made(path, 100)
	made(path+"-backup", 7)
	r := &spend.Reader{URL: "sqlite:" + path, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
	defer r.Close()
	if got := r.Today(t.Context(), snapshot(t, d), list); got[1] != 100 {
		t.Fatalf("%v", got)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + suffix) // if there is one
	}
	d.Must(os.Rename(path+"-backup", path))
	if got := r.Today(t.Context(), snapshot(t, d), list); got[1] != 7 {
		t.Errorf("%v of the file that is there now", got)
	}
}

// damaged has an advertiser that cannot be read.
type damaged struct {
	backend.Snapshot
	id uint64
}

func (s damaged) Advertisers(ctx context.Context, ids []uint64) ([]*backend.Advertiser, error) {
	if slices.Contains(ids, s.id) {
		return nil, fault.Newf(fault.Corrupt, "test", "advertiser %d is damaged", s.id)
	}
	return s.Snapshot.Advertisers(ctx, ids)
}

// TestDamagedAdvertiser: what the campaigns of one have spent is not known; that of the others is.
func TestDamagedAdvertiser(t *testing.T) {
	d, list := two(t)
	url := "sqlite:" + d.Path + "-events"
	s, err := database.OpenEvents(t.Context(), url)
	d.Must(err)
	defer s.Close()
	click(t, s, 1, 2, "2026-11-24", 100)
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	r := &spend.Reader{URL: url, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
	defer r.Close()
	for id, want := range map[uint64]map[uint64]uint64{1: {2: 100}, 2: {1: 0, 3: 0}} {
		if got := r.Today(t.Context(), damaged{snapshot(t, d), id}, list); !maps.Equal(got, want) {
			t.Errorf("without advertiser %d: %v, want %v", id, got, want)
		}
	}
}

// silent accepts connections and says nothing. Its URL is that of a database.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		var all []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			all = append(all, c)
		}
		for _, c := range all {
			_ = c.Close() // the other side may have
		}
	})
	t.Cleanup(func() { l.Close(); accepting.Wait() })
	return "postgres://nobody@" + l.Addr().String() + "/events?sslmode=disable"
}

// meeting is where calls meet that ask: only they read advertisers, which they get here when as many have come as should.
type meeting struct {
	backend.Snapshot
	want int32
	n    atomic.Int32
	all  chan struct{}
	list []*backend.Advertiser
}

func (m *meeting) Advertisers(context.Context, []uint64) ([]*backend.Advertiser, error) {
	switch n := m.n.Add(1); {
	case n == m.want:
		close(m.all)
	case n < m.want:
		select {
		case <-m.all:
		case <-time.After(time.Minute):
		}
	}
	return m.list, nil
}

// TestSilent: a database of events that accepts connections and never answers is waited for by those who look at data at the
// same time, and then by one of them after each pause.
func TestSilent(t *testing.T) {
	d, list := two(t)
	advertisers, err := snapshot(t, d).Advertisers(t.Context(), []uint64{1, 2})
	d.Must(err)
	var now atomic.Int64
	r := &spend.Reader{URL: silent(t), Now: func() time.Time { return time.Unix(now.Load(), 0) }, Log: slog.New(slog.DiscardHandler)}
	const readers = 8
	wait := func(when string, want int32) {
		t.Helper()
		m := &meeting{want: want, all: make(chan struct{}), list: advertisers}
		var all sync.WaitGroup
		for range readers {
			all.Go(func() {
				if got := r.Today(t.Context(), m, list); got != nil {
					t.Errorf("%v", got)
				}
			})
		}
		all.Wait()
		if got := m.n.Load(); got != want {
			t.Errorf("%s: %d waited, want %d", when, got, want)
		}
	}
	wait("at first", readers)
	wait("at once", 0)
	wait("still", 0)
	now.Add(60)
	wait("after the pause", 1)
	wait("at once after that", 0)
	// A request whose client went away says nothing about the database.
	now.Add(60)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	r.Today(ctx, snapshot(t, d), list)
	wait("after a client went away", 1)
	d.Must(r.Close())
}
