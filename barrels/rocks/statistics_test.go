package rocks

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"adshard/barrels/kv"
)

// TestStatistics: each count agrees with what was done, in a database that counts, and
// is 0 in one that does not.
func TestStatistics(t *testing.T) {
	for _, counts := range []bool{true, false} {
		db, err := open(t.TempDir(), Options{Statistics: counts, WriteBufferBytes: 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		random := rand.New(rand.NewPCG(1, 1))
		const rounds, size = 3, 100 << 10
		for range rounds { // files with overlapping keys, so that merging them reads and writes
			var b kv.Batch
			for i := range uint64(100) {
				value := make([]byte, size/100)
				for at := 0; at < len(value)-8; at += 8 {
					binary.BigEndian.PutUint64(value[at:], random.Uint64())
				}
				b.Put(kv.Postings, kv.AppendKey(nil, i, i, i), value)
			}
			if err := db.Write(&b); err != nil {
				t.Fatal(err)
			}
			if err := db.flush(); err != nil {
				t.Fatal(err)
			}
		}
		files := db.Statistics().Level0Files
		db.Compact(t.Context())
		for range 2 { // the first read misses
			s := db.Snapshot()
			if _, found, err := s.Get(kv.Postings, kv.AppendKey(nil, 7, 7, 7), nil); err != nil || !found {
				t.Fatal(found, err)
			}
			s.Close()
		}
		s := db.Statistics()
		if files == 0 || s.Level0Files != 0 {
			t.Errorf("%d files in level 0, %d once they are merged", files, s.Level0Files)
		}
		if _, known := db.db.GetIntProperty(delayedRate); s.WritesStopped || s.WritesDelayed || !known || s.Counted != counts {
			t.Errorf("%+v; RocksDB knows of delays: %t", s, known)
		}
		if !counts {
			if s.CacheHits+s.CacheMisses+s.FlushedBytes+s.CompactedRead+s.CompactedWritten+s.StalledMicros != 0 {
				t.Errorf("a database that does not count has %+v", s)
			}
			continue
		}
		if s.CacheHits == 0 || s.CacheMisses == 0 || s.FlushedBytes < rounds*size/2 || s.CompactedRead < rounds*size/2 || s.CompactedWritten < size/2 {
			t.Errorf("%+v", s)
		}
	}
}

// TestParseTickers: counts are found by their whole name; a histogram with a similar
// name is ignored.
func TestParseTickers(t *testing.T) {
	s := parseTickers("rocksdb.block.cache.miss COUNT : 42\nrocksdb.block.cache.misses COUNT : 1\nrocksdb.stall.micros COUNT : 7\n" +
		"rocksdb.block.cache.hit P50 : 1.0 P95 : 2.0 COUNT : 9 SUM : 9\n")
	if want := (kv.Statistics{Counted: true, CacheMisses: 42, StalledMicros: 7}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

// BenchmarkStatistics measures a read in a database that does not count, and in one that
// does.
func BenchmarkStatistics(b *testing.B) {
	for name, counts := range map[string]bool{"off": false, "on": true} {
		b.Run(name, func(b *testing.B) {
			db, err := open(b.TempDir(), Options{Statistics: counts})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			var batch kv.Batch
			const keys = 10_000
			for i := range uint64(keys) {
				batch.Put(kv.Postings, kv.AppendKey(nil, i, i, i), make([]byte, 200))
			}
			if err := db.Write(&batch); err != nil {
				b.Fatal(err)
			}
			if err := db.flush(); err != nil {
				b.Fatal(err)
			}
			s := db.Snapshot()
			defer s.Close()
			var value []byte
			i := uint64(0)
			for b.Loop() {
				i = (i + 7919) % keys
				if value, _, err = s.Get(kv.Postings, kv.AppendKey(nil, i, i, i), value[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
