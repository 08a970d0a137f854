package rocks

import (
	"encoding/binary"
	"testing"

	"adshard/barrels/kv"
)

// TestCompression: data that were just written are not compressed; data at
// rest are.
func TestCompression(t *testing.T) {
	db, err := open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	const size = 4 << 10
	var b kv.Batch
	for i := range uint64(512) {
		b.Put(kv.Postings, binary.BigEndian.AppendUint64(nil, i), make([]byte, size))
	}
	for range 2 { // a single file would only be moved
		if err := db.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := db.flush(); err != nil {
			t.Fatal(err)
		}
	}
	raw := uint64(b.Len()) * size
	if n := tableBytes(db); n < 2*raw {
		t.Errorf("%d bytes of new values, twice, take %d in table files: they were compressed", raw, n)
	}
	db.Compact(t.Context())
	if n := tableBytes(db); n > raw/4 {
		t.Errorf("%d bytes of values at rest take %d in table files: they were not compressed", raw, n)
	}
}

// tableBytes returns the size of the table files in use.
func tableBytes(kv *database) (sum uint64) {
	for _, f := range kv.db.GetLiveFilesMetaData() {
		sum += uint64(f.Size)
	}
	return sum
}
