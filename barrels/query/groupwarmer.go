package query

import (
	"adshard/barrels/index"
	"adshard/barrels/kv"
)

// GroupWarmer caches groups ahead of searches. Only one goroutine may use it.
type GroupWarmer struct {
	reader groupReader
}

// GroupWarmer returns a GroupWarmer of the groups of a state, which the caller holds until it has closed the GroupWarmer.
func (c *Engine) GroupWarmer(st *index.Snapshot) *GroupWarmer {
	w := new(GroupWarmer)
	w.reader.caches, w.reader.state, w.reader.records = c, st, st.Data.Full(kv.Items)
	return w
}

// Close ends the use of the state.
func (w *GroupWarmer) Close() { w.reader.release() }

// Warm caches the first group with a key from the given one on, unless it is cached already or too large, and returns its key. ok is false
// at the end of the store, and if the group has no room: less than a quarter of its part of the cache would remain free. It does not
// report damage; a search that reads the group does.
func (w *GroupWarmer) Warm(from uint64) (key uint64, ok bool) {
	g := &w.reader
	it := g.records
	g.key = kv.AppendKey(g.key[:0], from, kv.GroupRecord)
	// The group before was read to its end, so that the iterator is mostly where it should be.
	if (!g.further || kv.KeyPart(it.Key(), 0) < from) && !it.Seek(g.key) {
		return 0, false
	}
	key = kv.KeyPart(it.Key(), 0)
	if g.further = true; kv.KeyPart(it.Key(), 1) != kv.GroupRecord || g.caches.Groups.Valid(key, g.state.Number) {
		return key, true
	}
	read, size, ok := g.readHere(key)
	if !ok || read.Partial { // the next call passes over the rest of its items
		return key, true
	}
	return key, g.caches.Groups.Fill(key, g.state.Number, read, size)
}
