package barrels_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/kv"
	"adshard/barrels/memory"
)

// slowDB calls read before each step of an iterator.
type slowDB struct {
	kv.DB
	read func()
}

func (d slowDB) Snapshot() kv.Snapshot { return slowSnapshot{d.DB.Snapshot(), d.read} }

type slowSnapshot struct {
	kv.Snapshot
	read func()
}

func (s slowSnapshot) Get(f kv.Family, key, dst []byte) ([]byte, bool, error) {
	s.read()
	return s.Snapshot.Get(f, key, dst)
}
func (s slowSnapshot) Prefix(f kv.Family) kv.Iterator {
	return slowIterator{s.Snapshot.Prefix(f), s.read}
}
func (s slowSnapshot) Full(f kv.Family) kv.Iterator { return slowIterator{s.Snapshot.Full(f), s.read} }

type slowIterator struct {
	kv.Iterator
	read func()
}

func (i slowIterator) Seek(key []byte) bool     { i.read(); return i.Iterator.Seek(key) }
func (i slowIterator) SeekBack(key []byte) bool { i.read(); return i.Iterator.SeekBack(key) }
func (i slowIterator) Next() bool               { i.read(); return i.Iterator.Next() }

// TestBucketsAndCertificatesYield: while there are searches, a bucket and a certificate
// take one and a half times as long as their work, and otherwise no longer than it.
func TestBucketsAndCertificatesYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var searching func()
		var worked atomic.Int64 // several goroutines open a store
		db := slowDB{memory.NewDB(), func() {
			const step = 50 * time.Microsecond
			time.Sleep(step)
			worked.Add(int64(step))
			if searching != nil {
				searching()
			}
		}}
		s := open(t, db)
		defer s.Close()
		bucket := barreltest.NewBuilder(t, barreltest.Small(300, "usb cable", "red shoes")).All()
		if err := s.Apply(t.Context(), bucket); err != nil {
			t.Fatal(err)
		}
		for _, busy := range []bool{false, true} {
			if busy {
				searching = func() { barrels.CountSearch(s) }
			}
			for name, work := range map[string]func() error{
				"bucket": func() error {
					next := proto.CloneOf(bucket)
					next.Reset_, next.From, next.To = false, s.Position(), s.Position()
					next.To.Clock++
					return s.Apply(t.Context(), next)
				},
				"certificate": func() error {
					_, err := s.Certify(t.Context(), 0, ^uint64(0), ^uint64(0), nil)
					return err
				},
			} {
				worked.Store(0)
				began := time.Now()
				if err := work(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				took, work := time.Since(began), time.Duration(worked.Load())
				if work < 10*time.Millisecond || busy != (took > work*5/4) || !busy && took != work {
					t.Errorf("%s, searches %v: it took %v for %v of work", name, busy, took, work)
				}
			}
		}
	})
}
