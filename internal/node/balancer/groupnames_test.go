package balancer

import (
	"context"
	"errors"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/nodetest"
)

// fragile is a database that counts reads and may be away.
type fragile struct {
	backend.Feed
	away bool
	read int
}

func (f *fragile) Snapshot(ctx context.Context) (backend.Snapshot, error) {
	if f.read++; f.away {
		return nil, errors.New("it is away")
	}
	return f.Feed.Snapshot(ctx)
}

// TestNamesOfGroups: names are read once. Groups that the database does not have or cannot read get no
// name.
func TestNamesOfGroups(t *testing.T) {
	d := nodetest.NewDatabase(t)
	d.Write(2, 3, 1, 1)
	db, names := &fragile{Feed: d.DB, away: true}, &groupNames{wait: time.Hour}
	ask := func(ids ...uint64) (list []*api.HotItem) {
		for _, id := range ids {
			list = append(list, &api.HotItem{GroupID: id})
		}
		names.fill(t.Context(), db, list)
		return list
	}
	if got := ask(2); got[0].Group != "" {
		t.Errorf("of a database that is away: %+v", got[0])
	}
	db.away = false
	if got := ask(2); got[0].Group != "" || db.read != 1 {
		t.Errorf("at once after it was away: %+v, read %d times", got[0], db.read)
	}
	got := ask(6, 1, 99)
	for i, want := range []uint64{6, 1} {
		s, err := d.DB.Snapshot(t.Context())
		d.Must(err)
		defer s.Close()
		items, err := s.Items(t.Context(), []uint64{want})
		d.Must(err)
		campaigns, err := s.Campaigns(t.Context(), []uint64{items[0].Group.CampaignID})
		d.Must(err)
		advertisers, err := s.Advertisers(t.Context(), []uint64{items[0].Group.AdvertiserID})
		d.Must(err)
		if h := got[i]; h.Group != items[0].Group.Name || h.Campaign != campaigns[0].Name || h.Advertiser != advertisers[0].Name || h.Group == "" {
			t.Errorf("group %d: %+v", want, h)
		}
	}
	if got[2].Group != "" || got[2].Campaign != "" || got[2].Advertiser != "" {
		t.Errorf("of no group: %+v", got[2])
	}
	before := db.read
	if again := ask(1, 6); *again[0] != *got[1] || *again[1] != *got[0] || db.read != before {
		t.Errorf("again: %+v %+v, %d reads", again[0], again[1], db.read-before)
	}
	db.away = true
	if got := ask(1, 3); got[0].Group == "" || got[1].Group != "" {
		t.Errorf("one known, one not: %+v %+v", got[0], got[1])
	}
	db.away = false
	names.known[3] = groupName{missed: time.Now().Add(-2 * namesMissed)}
	if got := ask(3); got[0].Group == "" {
		t.Errorf("a while after it was away: %+v", got[0])
	}
	names.reading.Lock()
	defer names.reading.Unlock()
	if got := ask(1, 4); got[0].Group == "" || got[1].Group != "" {
		t.Errorf("while somebody reads: %+v %+v", got[0], got[1])
	}
}

// stalled is a database whose reads do not end before they are let go.
type stalled struct {
	backend.Feed
	letGo chan struct{}
}

func (s stalled) Snapshot(ctx context.Context) (backend.Snapshot, error) {
	<-s.letGo
	return s.Feed.Snapshot(ctx)
}

// TestNamesOfASlowDatabase: an answer does not wait for names until they are read; they are in a later one.
func TestNamesOfASlowDatabase(t *testing.T) {
	d := nodetest.NewDatabase(t)
	d.Write(1, 1, 1, 1)
	db, names := stalled{d.DB, make(chan struct{})}, &groupNames{wait: time.Nanosecond}
	h := &api.HotItem{GroupID: 1}
	if names.fill(t.Context(), db, []*api.HotItem{h}); h.Group != "" {
		t.Fatalf("%+v", h)
	}
	close(db.letGo)
	names.reading.Lock() // until it is read
	defer names.reading.Unlock()
	if names.fill(t.Context(), d.DB, []*api.HotItem{h}); h.Group == "" {
		t.Errorf("when it was read: %+v", h)
	}
}

// TestNamesOfManyGroups: one answer reads a bounded number of names, and at most namesKept are
// remembered.
func TestNamesOfManyGroups(t *testing.T) {
	d := nodetest.NewDatabase(t)
	d.Write(10, 10, 1, 1)
	names := &groupNames{wait: time.Hour, known: make(map[uint64]groupName)}
	for id := range uint64(namesKept) {
		names.known[1_000_000+id] = groupName{group: "x"}
	}
	var list []*api.HotItem
	for id := range uint64(namesRead + 10) {
		list = append(list, &api.HotItem{GroupID: id + 1})
	}
	names.fill(t.Context(), d.DB, list)
	if list[0].Group == "" || list[namesRead-1].Group == "" || list[namesRead].Group != "" || len(names.known) != namesRead {
		t.Errorf("%+v, %+v, %+v; %d are remembered", list[0], list[namesRead-1], list[namesRead], len(names.known))
	}
}
