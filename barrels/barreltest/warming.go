package barreltest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"adshard/barrels"
	"adshard/barrels/kv"
	"adshard/search"
)

// Warming checks that once lists and groups are prepared, searches read none from the database, not even those that changed or were
// added since, nor after the store is opened again.
func Warming(t *testing.T, db kv.DB) {
	reads := new(atomic.Int64)
	s, err := barrels.Open(counting{DB: db, reads: reads}, barrels.Options{CacheBytes: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put(t, s, NewBuilder(t, Small(2, "usb cable", "cable")).All())
	warmed(t, s, reads, map[string]uint64{"usb cable": 4, "cable": 2})
	more := NewBuilder(t, Small(3, "usb cable", "cable", "red shoes")).All()
	more.Reset_, more.From, more.To = false, At(1), At(2)
	put(t, s, more)
	warmed(t, s, reads, map[string]uint64{"usb cable": 6, "cable": 3, "red shoes": 3})
	last := NewBuilder(t, Small(4, "usb cable", "cable", "red shoes", "lamp")).All()
	last.Reset_, last.From, last.To = false, At(2), At(3)
	last.Deleted, last.Items = []uint64{last.Items[0].Group.Key}, last.Items[3:] // as many groups as before
	put(t, s, last)
	warmed(t, s, reads, map[string]uint64{"usb cable": 6, "red shoes": 3, "lamp": 1})

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	other := NewBuilder(t, Small(4, "usb cable", "cable", "red shoes", "lamp", "tent")).All()
	other.Reset_, other.From, other.To = false, At(3), At(4)
	put(t, s, other)
	if n := s.Warm(ended); n != 0 {
		t.Errorf("%d lists prepared after the context's end", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := barrels.Open(counting{DB: db, reads: reads}, barrels.Options{CacheBytes: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	warmed(t, again, reads, map[string]uint64{"tent": 4})
}

// WarmingBesideAReset checks that groups which were replaced while groups were being cached are cached the next time.
func WarmingBesideAReset(t *testing.T, db kv.DB) {
	reads, reset := new(atomic.Int64), new(func())
	s, err := barrels.Open(counting{db, reads, reset}, barrels.Options{CacheBytes: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := NewBuilder(t, Small(3, "usb cable"))
	put(t, s, b.All())
	*reset = func() {
		*reset = nil
		put(t, s, b.All())
	}
	s.Warm(context.Background())
	if *reset != nil {
		t.Fatal("no group was read")
	}
	s.Warm(context.Background())
	before := reads.Load()
	matches(t, s, "usb cable", 3)
	if n := reads.Load() - before; n != 0 {
		t.Errorf("a search made %d iterators", n)
	}
}

// WarmingKeepsItsShare checks that lists and impacts which do not all fit take at most three quarters of their memory, and
// use most of that.
func WarmingKeepsItsShare(t *testing.T, db kv.DB) {
	open := func(bytes uint64) barrels.Store {
		s, err := barrels.Open(db, barrels.Options{CacheBytes: bytes})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(32 << 20)
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("word%d", i))
	}
	put(t, s, NewBuilder(t, Small(2, texts...)).All())
	all := s.Warm(context.Background())
	m := s.Stats().Memory
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []uint64{m.Lists / 2, m.Lists} { // the second has room for all lists, but not for their impacts
		s := open(m.Terms + m.Parents + 2*limit)
		part := s.Warm(context.Background())
		if got := s.Stats().Memory.Lists; got > limit/4*3 || got < limit/2 || limit < m.Lists && part >= all {
			t.Errorf("%d of %d lists with impacts take %d of %d bytes", part, all, got, limit)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// warmed prepares lists, at least one, then checks what searches match on each device, that they read no list, and that they compute no
// impacts, which would take memory.
func warmed(t *testing.T, s barrels.Store, reads *atomic.Int64, want map[string]uint64) {
	t.Helper()
	if s.Warm(context.Background()) == 0 {
		t.Error("no list was prepared")
	}
	if n := s.Warm(context.Background()); n != 0 {
		t.Errorf("%d lists prepared again", n)
	}
	before, memory := reads.Load(), s.Stats().Memory.Lists
	for text, n := range want {
		r := query(t, text)
		for r.Device = range search.Device(search.Devices) {
			if a := ask(t, s, r); a.Matched != n || a.Work.BlocksBad != 0 {
				t.Errorf("%q matches %d on device %d, want %d; %+v", text, a.Matched, r.Device, n, a.Work)
			}
		}
	}
	if n := reads.Load() - before; n != 0 {
		t.Errorf("searches read %d lists", n)
	}
	if now := s.Stats().Memory.Lists; now != memory {
		t.Errorf("lists take %d bytes after searches, %d before", now, memory)
	}
}

// counting counts the iterators of searches over posting lists and groups. Before one over all groups is made, it calls full.
type counting struct {
	kv.DB
	reads *atomic.Int64
	full  *func() // may be nil, or lead to nil
}

func (c counting) Snapshot() kv.Snapshot { return countingSnapshot{c.DB.Snapshot(), c} }

type countingSnapshot struct {
	kv.Snapshot
	of counting
}

func (s countingSnapshot) Full(f kv.Family) kv.Iterator {
	if f == kv.Items && s.of.full != nil && *s.of.full != nil {
		(*s.of.full)()
	}
	return s.Snapshot.Full(f)
}

func (s countingSnapshot) Prefix(f kv.Family) kv.Iterator {
	if f == kv.Postings || f == kv.Items {
		s.of.reads.Add(1)
	}
	return s.Snapshot.Prefix(f)
}
