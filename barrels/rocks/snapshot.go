package rocks

import (
	"sync"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/kv"
)

// Snapshot implements kv.DB.
func (kv *database) Snapshot() kv.Snapshot {
	s := &snapshot{kv: kv, snap: kv.db.NewSnapshot()}
	s.prefix = grocksdb.NewDefaultReadOptions()
	s.prefix.SetSnapshot(s.snap)
	s.prefix.SetPrefixSameAsStart(true)
	s.full = grocksdb.NewDefaultReadOptions()
	s.full.SetSnapshot(s.snap)
	s.full.SetTotalOrderSeek(true)
	s.scan = grocksdb.NewDefaultReadOptions()
	s.scan.SetSnapshot(s.snap)
	s.scan.SetTotalOrderSeek(true)
	s.scan.SetFillCache(false) // data read only once must not displace what searches read
	return s
}

// snapshot owns a RocksDB snapshot, its read options and its iterators. The iterators are kept for
// the next search, since opening one costs as much as several seeks.
type snapshot struct {
	kv           *database
	snap         *grocksdb.Snapshot
	prefix, full *grocksdb.ReadOptions
	scan         *grocksdb.ReadOptions

	mu   sync.Mutex
	idle [kv.Families][]*iterator // iterators made by Prefix; guarded by mu
}

// Get implements kv.Snapshot.
func (s *snapshot) Get(f kv.Family, key, dst []byte) ([]byte, bool, error) {
	value, err := s.kv.db.GetCF(s.full, s.kv.handle(f), key)
	if err != nil {
		return dst, false, classify("rocks: read", err)
	}
	defer value.Free()
	if !value.Exists() {
		return dst, false, nil
	}
	return append(dst, value.Data()...), true, nil
}

// Prefix implements kv.Snapshot.
func (s *snapshot) Prefix(f kv.Family) kv.Iterator {
	s.mu.Lock()
	if n := len(s.idle[f]); n > 0 {
		i := s.idle[f][n-1]
		s.idle[f] = s.idle[f][:n-1]
		s.mu.Unlock()
		return i
	}
	s.mu.Unlock()
	return &iterator{it: s.kv.db.NewIteratorCF(s.prefix, s.kv.handle(f)), owner: s, family: f}
}

// Full implements kv.Snapshot.
func (s *snapshot) Full(f kv.Family) kv.Iterator {
	return &iterator{it: s.kv.db.NewIteratorCF(s.scan, s.kv.handle(f)), family: f}
}

// Close implements kv.Snapshot.
func (s *snapshot) Close() {
	for _, list := range s.idle {
		for _, i := range list {
			i.it.Close()
		}
	}
	s.prefix.Destroy()
	s.full.Destroy()
	s.scan.Destroy()
	s.kv.db.ReleaseSnapshot(s.snap)
}
