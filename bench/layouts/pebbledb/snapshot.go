package pebbledb

import (
	"bytes"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"adshard/barrels/kv"
)

// Snapshot implements kv.DB.
func (kv *database) Snapshot() kv.Snapshot { return &snapshot{snap: kv.db.NewSnapshot()} }

// snapshot keeps iterators over prefixes for later searches.
type snapshot struct {
	snap *pebble.Snapshot

	mu   sync.Mutex
	idle [kv.Families][]*iterator // guarded by mu
}

// Get implements kv.Snapshot.
func (s *snapshot) Get(f kv.Family, key, dst []byte) ([]byte, bool, error) {
	var room [64]byte
	value, closer, err := s.snap.Get(appendKey(room[:0], f, key))
	if errors.Is(err, pebble.ErrNotFound) {
		return dst, false, nil
	}
	if err != nil {
		return dst, false, classify("pebbledb: read", err)
	}
	dst = append(dst, value...)
	return dst, true, classify("pebbledb: read", closer.Close())
}

// Prefix implements kv.Snapshot.
func (s *snapshot) Prefix(f kv.Family) kv.Iterator {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle[f]); n > 0 {
		i := s.idle[f][n-1]
		s.idle[f] = s.idle[f][:n-1]
		return i
	}
	i := s.iterator(f)
	i.owner, i.prefix = s, 1+f.PrefixLen()
	return i
}

// Full implements kv.Snapshot.
func (s *snapshot) Full(f kv.Family) kv.Iterator { return s.iterator(f) }

func (s *snapshot) iterator(f kv.Family) *iterator {
	it, err := s.snap.NewIter(&pebble.IterOptions{LowerBound: []byte{byte(f)}, UpperBound: []byte{byte(f) + 1}})
	return &iterator{it: it, failed: err, family: f, prefix: 1}
}

// Close implements kv.Snapshot.
func (s *snapshot) Close() {
	for _, list := range s.idle {
		for _, i := range list {
			i.end()
		}
	}
	_ = s.snap.Close() // errors were returned by the reads
}

// iterator stays within the keys that have the same prefix as the key last
// sought.
type iterator struct {
	it     *pebble.Iterator
	failed error // the error of making it or of a value
	owner  *snapshot
	family kv.Family
	prefix int // its length, with the family's byte
	sought []byte
}

// Seek implements kv.Iterator.
func (i *iterator) Seek(key []byte) bool {
	if i.failed != nil {
		return false
	}
	i.sought = appendKey(i.sought[:0], i.family, key)
	if i.prefix > 1 && len(i.sought) >= i.prefix {
		return i.it.SeekPrefixGE(i.sought) // uses the Bloom filter
	}
	return i.it.SeekGE(i.sought) && i.at()
}

// SeekBack implements kv.Iterator.
func (i *iterator) SeekBack(key []byte) bool {
	if i.failed != nil {
		return false
	}
	i.sought = append(appendKey(i.sought[:0], i.family, key), 0)
	return i.it.SeekLT(i.sought) && i.at()
}

// Next implements kv.Iterator.
func (i *iterator) Next() bool { return i.failed == nil && i.it.Next() && i.at() }

// at reports whether the iterator is at a key with the prefix sought.
func (i *iterator) at() bool {
	return bytes.HasPrefix(i.it.Key(), i.sought[:min(i.prefix, len(i.sought))])
}

// Key implements kv.Iterator.
func (i *iterator) Key() []byte { return i.it.Key()[1:] }

// Value implements kv.Iterator.
func (i *iterator) Value() []byte {
	value, err := i.it.ValueAndErr()
	if err != nil {
		i.failed = err
	}
	return value
}

// Err implements kv.Iterator.
func (i *iterator) Err() error {
	if i.failed != nil {
		return classify("pebbledb: read", i.failed)
	}
	return classify("pebbledb: read", i.it.Error())
}

// Close implements kv.Iterator.
func (i *iterator) Close() {
	if i.owner == nil || i.failed != nil {
		i.end()
		return
	}
	i.owner.mu.Lock()
	defer i.owner.mu.Unlock()
	i.owner.idle[i.family] = append(i.owner.idle[i.family], i)
}

func (i *iterator) end() {
	if i.it != nil {
		_ = i.it.Close() // Err has returned its error
	}
}
