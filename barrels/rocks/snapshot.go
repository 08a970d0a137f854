package rocks

import (
	"sync"

	"adshard/barrels"

	"github.com/linxGnu/grocksdb"
)

// Snapshot implements barrels.KV.
func (kv *kv) Snapshot() barrels.Snapshot {
	s := &snapshot{kv: kv, snap: kv.db.NewSnapshot()}
	s.prefix = grocksdb.NewDefaultReadOptions()
	s.prefix.SetSnapshot(s.snap)
	s.prefix.SetPrefixSameAsStart(true)
	s.full = grocksdb.NewDefaultReadOptions()
	s.full.SetSnapshot(s.snap)
	s.full.SetTotalOrderSeek(true)
	return s
}

// snapshot owns a RocksDB snapshot, its read options and its iterators, which
// are kept for the next search: opening one costs as much as several seeks.
type snapshot struct {
	kv           *kv
	snap         *grocksdb.Snapshot
	prefix, full *grocksdb.ReadOptions

	mu   sync.Mutex
	idle [barrels.Families][]*iterator // of prefix; guarded by mu
}

// Get implements barrels.Snapshot.
func (s *snapshot) Get(f barrels.Family, key, dst []byte) ([]byte, bool, error) {
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

// Prefix implements barrels.Snapshot.
func (s *snapshot) Prefix(f barrels.Family) barrels.Iterator {
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

// Full implements barrels.Snapshot.
func (s *snapshot) Full(f barrels.Family) barrels.Iterator {
	return &iterator{it: s.kv.db.NewIteratorCF(s.full, s.kv.handle(f)), family: f}
}

// Close implements barrels.Snapshot.
func (s *snapshot) Close() {
	for _, list := range s.idle {
		for _, i := range list {
			i.it.Close()
		}
	}
	s.prefix.Destroy()
	s.full.Destroy()
	s.kv.db.ReleaseSnapshot(s.snap)
}

// iterator copies what RocksDB pins.
type iterator struct {
	it         *grocksdb.Iterator
	owner      *snapshot // nil: closed for good after use
	family     barrels.Family
	key, value []byte
}

// Seek implements barrels.Iterator.
func (i *iterator) Seek(key []byte) bool {
	if len(key) == 0 {
		i.it.SeekToFirst()
	} else {
		i.it.Seek(key)
	}
	return i.at()
}

// SeekBack implements barrels.Iterator.
func (i *iterator) SeekBack(key []byte) bool {
	i.it.SeekForPrev(key)
	return i.at()
}

// Next implements barrels.Iterator.
func (i *iterator) Next() bool {
	i.it.Next()
	return i.at()
}

func (i *iterator) at() bool {
	i.value = i.value[:0]
	if !i.it.Valid() {
		return false
	}
	i.key = append(i.key[:0], i.it.Key().Data()...)
	return true
}

// Key implements barrels.Iterator.
func (i *iterator) Key() []byte { return i.key }

// Value implements barrels.Iterator.
func (i *iterator) Value() []byte {
	if len(i.value) == 0 {
		i.value = append(i.value, i.it.Value().Data()...)
	}
	return i.value
}

// Err implements barrels.Iterator.
func (i *iterator) Err() error { return classify("rocks: read", i.it.Err()) }

// Close implements barrels.Iterator.
func (i *iterator) Close() {
	if i.owner == nil {
		i.it.Close()
		return
	}
	i.owner.mu.Lock()
	i.owner.idle[i.family] = append(i.owner.idle[i.family], i)
	i.owner.mu.Unlock()
}
