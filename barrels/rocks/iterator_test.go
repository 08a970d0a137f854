package rocks

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/linxGnu/grocksdb"
	"pgregory.net/rapid"

	"adshard/barrels/kv"
	"adshard/barrels/memory"
)

// TestIterators: in every direction, iterators see the same as those of a map, with values
// below and above the size of their buffers.
func TestIterators(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rapid.Check(t, func(t *rapid.T) {
		want := memory.NewDB()
		var b kv.Batch
		b.Clear(kv.Postings)
		for range rapid.IntRange(0, 60).Draw(t, "entries") {
			size := rapid.SampledFrom([]int{0, 1, 100, prefixBuffer, fullBuffer}).Draw(t, "size")
			b.Put(kv.Postings, drawKey(t), bytes.Repeat([]byte{byte(size)}, size))
		}
		if err := db.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := want.Write(&b); err != nil {
			t.Fatal(err)
		}
		s, m := db.Snapshot(), want.Snapshot()
		defer s.Close()
		defer m.Close()
		for range 3 { // iterators are reused
			wander(t, s.Prefix(kv.Postings), m.Prefix(kv.Postings), true)
			wander(t, s.Full(kv.Postings), m.Full(kv.Postings), false)
		}
	})
}

// TestFieldsOfGrocksdb: RocksDB's iterator and options are where C reads them, whatever the
// version of grocksdb.
func TestFieldsOfGrocksdb(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[grocksdb.Iterator](), reflect.TypeFor[grocksdb.Options]()} {
		if f := of.Field(0); f.Name != "c" || f.Type.Kind() != reflect.Pointer {
			t.Errorf("the first field of %s is %s %s", of, f.Name, f.Type)
		}
	}
}

// drawKey draws one of a few terms and a place.
func drawKey(t *rapid.T) []byte {
	k := binary.BigEndian.AppendUint64(nil, rapid.Uint64Range(1, 4).Draw(t, "term"))
	return binary.BigEndian.AppendUint64(k, rapid.Uint64Range(1, 40).Draw(t, "place"))
}

// wander moves both iterators in the same ways and compares them.
func wander(t *rapid.T, got, want kv.Iterator, prefix bool) {
	defer got.Close()
	defer want.Close()
	alive := false
	for range rapid.IntRange(1, 12).Draw(t, "moves") {
		var ok, wanted bool
		switch way := rapid.IntRange(0, 4).Draw(t, "way"); {
		case way == 0:
			k := drawKey(t)
			ok, wanted = got.Seek(k), want.Seek(k)
		case way == 1:
			k := drawKey(t)
			ok, wanted = got.SeekBack(k), want.SeekBack(k)
		case way == 2 && !prefix:
			ok, wanted = got.Seek(nil), want.Seek(nil)
		case alive:
			ok, wanted = got.Next(), want.Next()
		default:
			continue
		}
		if alive = ok; ok != wanted || got.Err() != nil {
			t.Fatalf("%v, want %v, %v", ok, wanted, got.Err())
		}
		if ok && (!bytes.Equal(got.Key(), want.Key()) || !bytes.Equal(got.Value(), want.Value())) {
			t.Fatalf("at %x with %d bytes, want %x with %d", got.Key(), len(got.Value()), want.Key(), len(want.Value()))
		}
	}
}

// TestASeekReadsLittle: many seeks, as in certificates, copy few entries.
func TestASeekReadsLittle(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var b kv.Batch
	for place := range uint64(1000) {
		b.Put(kv.Postings, kv.AppendKey(nil, 1, place, 0), []byte("posting"))
	}
	if err := db.Write(&b); err != nil {
		t.Fatal(err)
	}
	s := db.Snapshot()
	defer s.Close()
	it := s.Full(kv.Postings).(*iterator)
	defer it.Close()
	read, entries := 0, 0 // entries that were copied, and those that were visited
	for ok := it.Seek(kv.AppendKey(nil, 1, 0, 0)); ok && entries < 3; ok = it.Next() {
		if entry := entryHead + len(it.Key()) + len(it.Value()); len(it.rest)/entry+1 > read-entries {
			read = entries + len(it.rest)/entry + 1
		}
		entries++
	}
	if read > 2*entries {
		t.Errorf("%d entries were read for %d", read, entries)
	}
}
