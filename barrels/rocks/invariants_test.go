//go:build invariants

package rocks

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"

	"adshard/barrels/kv"
)

func TestEntriesAreChecked(t *testing.T) {
	entry := func(key, value uint32, size int) []byte {
		b := binary.NativeEndian.AppendUint32(nil, key)
		return append(binary.NativeEndian.AppendUint32(b, value), make([]byte, size)...)
	}
	whole := append(entry(3, 5, 8), entry(0, 0, 0)...)
	checkEntries(whole, len(whole))
	checkEntries(whole, 0)
	for name, damaged := range map[string]func(){
		"more than the buffer":     func() { checkEntries(whole, len(whole)+1) },
		"a head that is cut off":   func() { checkEntries(whole, len(whole)-1) },
		"a value behind the end":   func() { checkEntries(entry(3, 6, 8), 16) },
		"a key that is far larger": func() { checkEntries(entry(1<<31, 0, 8), 16) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("not noticed")
				}
			}()
			damaged()
		})
	}
}

// TestBytesEndWithTheirIterator: the bytes that an iterator returned are overwritten when it is
// closed, but not if only another iterator is closed.
func TestBytesEndWithTheirIterator(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	key := binary.BigEndian.AppendUint64(nil, 7)
	var b kv.Batch
	b.Put(kv.Postings, key, []byte("value"))
	if err := db.Write(&b); err != nil {
		t.Fatal(err)
	}
	s := db.Snapshot()
	defer s.Close()
	first, second := s.Prefix(kv.Postings), s.Prefix(kv.Postings)
	if !first.Seek(key) || !second.Seek(key) {
		t.Fatal("not found")
	}
	closed, open := first.Value(), second.Value()
	first.Close()
	if third := s.Prefix(kv.Postings); !third.Seek(key) || !bytes.Equal(open, []byte("value")) {
		t.Errorf("an open iterator's value is %q", open)
	} else {
		third.Close()
	}
	second.Close()
	if bytes.Equal(open, []byte("value")) || bytes.Equal(closed, []byte("value")) {
		t.Errorf("values of closed iterators are %q and %q", closed, open)
	}
}
