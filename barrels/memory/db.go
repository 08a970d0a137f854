// Package memory implements kv.DB in memory, as an ordered map with snapshots. It is the
// counterpart of barrels/rocks for tests. No data survive the process.
package memory

import (
	"bytes"
	"context"
	"sync"

	"github.com/tidwall/btree"

	"adshard/barrels/kv"
)

// NewDB returns an empty DB. Closing it keeps its data, so that it may be used again.
func NewDB() kv.DB {
	kv := new(db)
	for f := range kv.families {
		kv.families[f] = newTree()
	}
	return kv
}

type item struct{ key, value []byte }

type tree = btree.BTreeG[item]

func newTree() *tree {
	less := func(a, b item) bool { return bytes.Compare(a.key, b.key) < 0 }
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// db holds one copy-on-write tree per family.
type db struct {
	mu       sync.Mutex // guards families
	families [kv.Families]*tree
}

func (db *db) Write(b *kv.Batch) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	for i := range b.Len() {
		op := b.Op(i)
		switch op.Kind {
		case kv.Put:
			db.families[op.Family].Set(item{bytes.Clone(op.Key), append([]byte{}, op.Value...)})
		case kv.Delete:
			db.families[op.Family].Delete(item{key: op.Key})
		case kv.Clear:
			db.families[op.Family] = newTree()
		}
	}
	return nil
}

func (kv *db) Snapshot() kv.Snapshot {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	s := new(snapshot)
	for f, t := range kv.families {
		s.families[f] = t.Copy()
	}
	return s
}

// Recreate implements kv.Recreator.
func (kv *db) Recreate() error {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	for f := range kv.families {
		kv.families[f] = newTree()
	}
	return nil
}

func (kv *db) Present() error           { return nil }
func (kv *db) Compact(context.Context)  {}
func (kv *db) Failed() bool             { return false }
func (kv *db) Ready() error             { return nil }
func (kv *db) Reopen() error            { return nil }
func (kv *db) Unverified() bool         { return false }
func (kv *db) Verified() error          { return nil }
func (kv *db) DiskBytes() uint64        { return 0 }
func (d *db) Memory() kv.Memory         { return kv.Memory{} }
func (d *db) Statistics() kv.Statistics { return kv.Statistics{} }
func (kv *db) Close() error             { return nil }

type snapshot struct {
	families [kv.Families]*tree
}

func (s *snapshot) Get(f kv.Family, key, dst []byte) ([]byte, bool, error) {
	i, ok := s.families[f].Get(item{key: key})
	return append(dst, i.value...), ok, nil
}

func (s *snapshot) Prefix(f kv.Family) kv.Iterator {
	return &iterator{it: s.families[f].Iter(), prefix: f.PrefixLen()}
}

func (s *snapshot) Full(f kv.Family) kv.Iterator {
	return &iterator{it: s.families[f].Iter()}
}

func (s *snapshot) Close() {}

// iterator moves only over keys with the prefix of the key last sought.
type iterator struct {
	it     btree.IterG[item]
	prefix int
	sought []byte
	cur    item
}

func (i *iterator) Seek(key []byte) bool {
	return i.moveTo(i.it.Seek(item{key: key}), key)
}

func (i *iterator) SeekBack(key []byte) bool {
	ok := i.it.Seek(item{key: key})
	switch {
	case !ok:
		ok = i.it.Last()
	case !bytes.Equal(i.it.Item().key, key):
		ok = i.it.Prev()
	}
	return i.moveTo(ok, key)
}

func (i *iterator) Next() bool { return i.moveTo(i.it.Next(), i.sought) }

// moveTo moves the iterator to the tree iterator's item, if the item has the prefix of sought.
func (i *iterator) moveTo(ok bool, sought []byte) bool {
	i.sought = append(i.sought[:0], sought[:min(i.prefix, len(sought))]...)
	if !ok || !bytes.HasPrefix(i.it.Item().key, i.sought) {
		return false
	}
	i.cur = i.it.Item()
	return true
}

func (i *iterator) Key() []byte   { return i.cur.key }
func (i *iterator) Value() []byte { return i.cur.value }
func (i *iterator) Err() error    { return nil }
func (i *iterator) Close()        { i.it.Release() }
