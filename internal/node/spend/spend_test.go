package spend_test

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"maps"
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones below, whatever the machine has

	"adshard/backend"
	"adshard/events/store"
	"adshard/events/token"
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

// TestAway: a database of events that is away is told once, and shown again when it is back; nothing is known after the end.
func TestAway(t *testing.T) {
	d, list := two(t)
	path := d.Path + "-elsewhere/events"
	var log bytes.Buffer
	r := &spend.Reader{URL: "sqlite:" + path, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 3 {
		if got := r.Today(t.Context(), snapshot(t, d), list); got != nil {
			t.Fatalf("%v", got)
		}
	}
	d.Must(os.Mkdir(d.Path+"-elsewhere", 0o750))
	if got := r.Today(t.Context(), snapshot(t, d), list); len(got) != 3 {
		t.Errorf("%v", got)
	}
	if n := strings.Count(log.String(), "cannot be read"); n != 1 {
		t.Errorf("told %d times: %s", n, log.String())
	}
	d.Must(r.Close())
	if got := r.Today(t.Context(), snapshot(t, d), list); got != nil {
		t.Errorf("after the end: %v", got)
	}
}
