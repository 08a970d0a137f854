package query

import (
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/page"
	"adshard/barrels/record"
)

// groupReader reads ad groups and their keywords, from the cache or the snapshot.
type groupReader struct {
	scope
	records kv.Iterator // opened on first use
	further bool        // whether it is at an item after those of the group read last
	pages   page.Reader
	key     []byte
	texts   index.TextsBuilder // of the group that is being read
}

func (g *groupReader) release() {
	if g.records != nil {
		g.records.Close()
		g.records = nil
	}
	g.texts.Reset()
	g.scope.release()
}

func (g *groupReader) iterator() kv.Iterator {
	if g.records == nil {
		g.records = g.state.Data.Prefix(kv.Items)
	}
	return g.records
}

// group returns a group, or false if it does not exist or is damaged.
func (g *groupReader) group(key uint64) (*index.Group, bool) {
	if cached, ok := g.caches.Groups.Get(key, g.state.Number); ok {
		return cached, true
	}
	read, size, ok := g.readGroup(key)
	if ok && !read.Partial {
		g.caches.Groups.Put(key, g.state.Number, read, size)
	}
	return read, ok
}

// readGroup reads a group from the snapshot, and returns it with its approximate size in memory. ok
// is false if the group does not exist or is damaged.
func (g *groupReader) readGroup(key uint64) (group *index.Group, size int, ok bool) {
	g.key = kv.AppendKey(g.key[:0], key, kv.GroupRecord)
	it := g.iterator()
	if !it.Seek(g.key) || kv.KeyPart(it.Key(), 1) != kv.GroupRecord {
		return nil, 0, false
	}
	return g.readHere(key)
}

// readHere is readGroup for the group at whose record the iterator is.
func (g *groupReader) readHere(key uint64) (group *index.Group, size int, ok bool) {
	it := g.records
	raw := it.Value()
	data, err := record.ReadGroup(raw)
	if err != nil {
		return nil, 0, false
	}
	group, size = &index.Group{Group: data}, len(raw)
	room := g.caches.Groups.MaxBytes() - 3*size // what remains for keywords: texts and negatives take three times their size
	g.texts.Reset()
	for g.further = it.Next(); g.further && kv.KeyPart(it.Key(), 0) == key; g.further = it.Next() {
		if room -= len(it.Value()) + index.CacheOverhead; room < 0 {
			group.Partial = true
			return group, 0, true
		}
		if err = group.AddPage(&g.pages, &g.texts, it.Value()); err != nil {
			return nil, 0, false
		}
	}
	if it.Err() != nil {
		return nil, 0, false
	}
	group.Texts = g.texts.Texts()
	return group, index.GroupBytes(size, group), true
}

// keywordText returns the text of a keyword of a group.
func (g *groupReader) keywordText(group *index.Group, at kv.Place) (string, bool) {
	if !group.Partial {
		return group.Texts.Of(at.Keyword)
	}
	k, err := g.keyword(at)
	if err != nil {
		return "", false
	}
	return string(k.Text), true
}

// keyword reads a keyword's record, which is valid until the next call.
func (g *groupReader) keyword(at kv.Place) (*record.Keyword, error) {
	g.key = kv.AppendKey(g.key[:0], at.Key, at.Keyword)
	it := g.iterator()
	if !it.SeekBack(g.key) {
		return nil, page.ErrDamaged
	}
	if err := g.pages.Open(it.Value()); err != nil {
		return nil, err
	}
	for {
		k, err := g.pages.Next()
		if err != nil {
			return nil, err
		}
		if k == nil {
			return nil, page.ErrDamaged
		}
		if k.ID == at.Keyword {
			return k, nil
		}
	}
}
