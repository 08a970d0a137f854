package barreltest

import (
	"context"
	"sync/atomic"
	"testing"

	"adshard/barrels"
	"adshard/barrels/kv"
)

// Warming: once lists were prepared, searches read none from the database, those that changed or came
// since included.
func Warming(t *testing.T, db kv.DB) {
	reads := new(atomic.Int64)
	s, err := barrels.Open(counting{db, reads}, barrels.Options{CacheBytes: 32 << 20})
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

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	other := NewBuilder(t, Small(3, "usb cable", "cable", "red shoes", "tent")).All()
	other.Reset_, other.From, other.To = false, At(2), At(3)
	put(t, s, other)
	if n := s.Warm(ended); n != 0 {
		t.Errorf("%d lists prepared after the context's end", n)
	}
}

// warmed prepares lists, at least one, and checks what searches then match and that they read no list.
func warmed(t *testing.T, s barrels.Store, reads *atomic.Int64, want map[string]uint64) {
	t.Helper()
	if s.Warm(context.Background()) == 0 {
		t.Error("no list was prepared")
	}
	if n := s.Warm(context.Background()); n != 0 {
		t.Errorf("%d lists prepared again", n)
	}
	before := reads.Load()
	for text, n := range want {
		matches(t, s, text, n)
	}
	if n := reads.Load() - before; n != 0 {
		t.Errorf("searches read %d lists", n)
	}
}

// counting counts the iterators over posting lists.
type counting struct {
	kv.DB
	reads *atomic.Int64
}

func (c counting) Snapshot() kv.Snapshot { return countingSnapshot{c.DB.Snapshot(), c.reads} }

type countingSnapshot struct {
	kv.Snapshot
	reads *atomic.Int64
}

func (s countingSnapshot) Prefix(f kv.Family) kv.Iterator {
	if f == kv.Postings {
		s.reads.Add(1)
	}
	return s.Snapshot.Prefix(f)
}
