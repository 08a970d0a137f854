package replicas

import (
	"sync/atomic"

	"adshard/barrels/kv"
)

// Counting is a database that several stores read, each through its own Counting. It
// counts the posting lists that are read because no cache has them. Closing it leaves
// the database open.
type Counting struct {
	kv.DB
	lists, bytes atomic.Uint64
}

// Lists returns the number of posting lists read so far.
func (c *Counting) Lists() uint64 { return c.lists.Load() }

// Bytes returns the total size of their blocks.
func (c *Counting) Bytes() uint64 { return c.bytes.Load() }

// Close implements kv.DB.
func (c *Counting) Close() error { return nil }

// Snapshot implements kv.DB.
func (c *Counting) Snapshot() kv.Snapshot { return &snapshot{c.DB.Snapshot(), c} }

type snapshot struct {
	kv.Snapshot
	of *Counting
}

// Prefix implements kv.Snapshot.
func (s *snapshot) Prefix(f kv.Family) kv.Iterator {
	i := s.Snapshot.Prefix(f)
	if f != kv.Postings {
		return i
	}
	return &iterator{Iterator: i, of: s.of}
}

// iterator counts the terms that it seeks and the blocks that it reads.
type iterator struct {
	kv.Iterator
	of   *Counting
	term string // the term sought last
}

// Seek implements kv.Iterator.
func (i *iterator) Seek(key []byte) bool {
	if term := string(key[:min(len(key), kv.Postings.PrefixLen())]); term != i.term {
		i.term = term
		i.of.lists.Add(1)
	}
	return i.met(i.Iterator.Seek(key))
}

// Next implements kv.Iterator.
func (i *iterator) Next() bool { return i.met(i.Iterator.Next()) }

func (i *iterator) met(ok bool) bool {
	if ok {
		i.of.bytes.Add(uint64(len(i.Value())))
	}
	return ok
}

// Close implements kv.Iterator.
func (i *iterator) Close() {
	i.term = ""
	i.Iterator.Close()
}
