package barrels

import (
	"slices"

	"adshard/barrels/kv"
	"adshard/barrels/page"
	"adshard/barrels/record"
	"adshard/search"
)

// hits looks up what the answer shows of the best. One that cannot be read is
// left out, as damage.
func (f *finder) hits() []search.Hit {
	ranked := f.top.Ranked()
	if len(ranked) == 0 {
		return nil
	}
	f.touch(ranked)
	hits := make([]search.Hit, len(ranked))
	n := 0
	for i := range ranked {
		if f.show(&ranked[i], &hits[n]) {
			n++
			continue
		}
		key := ranked[i].Value.group().key
		f.bad = append(f.bad, run{key, key})
	}
	return hits[:n]
}

// groupItems is a group read for searches.
type groupItems struct {
	record.Group
	// ids are those of all keywords, rising; their texts stand one after the other
	// in texts, each up to its end. None if partial: they are too many to be kept.
	ids     []uint64
	ends    []uint32
	texts   string
	partial bool
}

// text returns the text of a keyword; false: it is not there.
func (g *groupItems) text(id uint64) (string, bool) {
	i, ok := slices.BinarySearch(g.ids, id)
	if !ok {
		return "", false
	}
	from := uint32(0)
	if i > 0 {
		from = g.ends[i-1]
	}
	return g.texts[from:g.ends[i]], true
}

// items reads a group; false: it is not there or damaged.
func (f *finder) items(key uint64) (*groupItems, bool) {
	if g, ok := f.cached.get(key, f.state.number); ok {
		return g, true
	}
	g, size, ok := f.read(key)
	if ok && !g.partial {
		f.cached.put(key, f.state.number, g, size)
	}
	return g, ok
}

// read reads a group from the store, and says about what it takes in memory;
// false: it is not there or damaged.
func (f *finder) read(key uint64) (g *groupItems, size int, ok bool) {
	f.key = kv.AppendKey(f.key[:0], key, kv.GroupRecord)
	if f.records == nil {
		f.records = f.state.snapshot.Prefix(kv.Items)
	}
	if !f.records.Seek(f.key) || kv.KeyPart(f.records.Key(), 1) != kv.GroupRecord {
		return nil, 0, false
	}
	stored := f.records.Value()
	data, err := record.ReadGroup(stored)
	if err != nil {
		return nil, 0, false
	}
	g = &groupItems{Group: data}
	size = len(stored)
	most := f.cached.most() - 3*size // texts and negatives, as searches use them
	var texts []byte
	for f.records.Next() {
		if most -= len(f.records.Value()) + cacheOverhead; most < 0 {
			g.ids, g.ends, g.partial = nil, nil, true
			return g, 0, true
		}
		if texts, err = g.page(&f.pages, texts, f.records.Value()); err != nil {
			return nil, 0, false
		}
	}
	if f.records.Err() != nil {
		return nil, 0, false
	}
	g.texts = string(texts)
	return g, itemsSize(size, g), true
}

// items is what searches would read of a changed group, with about its size;
// false: it is damaged.
func (g *groupChange) items() (items *groupItems, size int, ok bool) {
	stored, err := record.Marshal.MarshalAppend(nil, g.item.Group)
	if err != nil {
		return nil, 0, false
	}
	data, err := record.ReadGroup(stored)
	if err != nil {
		return nil, 0, false
	}
	items = &groupItems{Group: data}
	var texts []byte
	for _, k := range g.keywords {
		texts = append(texts, k.pb.Text...)
		items.ids, items.ends = append(items.ids, k.id), append(items.ends, uint32(len(texts)))
	}
	items.texts = string(texts)
	return items, itemsSize(len(stored), items), true
}

// itemsSize is about what a group takes in memory, given the size of its record.
func itemsSize(record int, g *groupItems) int { return 3*record + len(g.texts) + 12*len(g.ids) }

// page takes in a page of the group's keywords.
func (g *groupItems) page(r *page.Reader, texts, value []byte) ([]byte, error) {
	if err := r.Open(value); err != nil {
		return texts, err
	}
	for {
		k, err := r.Next()
		if err != nil {
			return texts, err
		}
		if k == nil {
			return texts, nil
		}
		texts = append(texts, k.Text...)
		g.ids, g.ends = append(g.ids, k.ID), append(g.ends, uint32(len(texts)))
	}
}

// keywordText returns the text of a keyword of a group.
func (f *finder) keywordText(g *groupItems, at kv.Place) (string, bool) {
	if !g.partial {
		return g.text(at.Keyword)
	}
	k, err := f.findKeyword(at)
	if err != nil {
		return "", false
	}
	return string(k.Text), true
}

// findKeyword reads a keyword; it is good until the next call.
func (f *finder) findKeyword(at kv.Place) (*record.Keyword, error) {
	f.key = kv.AppendKey(f.key[:0], at.Key, at.Keyword)
	if f.records == nil {
		f.records = f.state.snapshot.Prefix(kv.Items)
	}
	if !f.records.SeekBack(f.key) {
		return nil, page.ErrDamaged
	}
	if err := f.pages.Open(f.records.Value()); err != nil {
		return nil, err
	}
	for {
		k, err := f.pages.Next()
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
