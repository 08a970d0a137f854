package barrels

import (
	"adshard/barrels/index"
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
		f.bad = append(f.bad, index.Interval{Lo: key, Hi: key})
	}
	return hits[:n]
}

// items reads a group; false: it is not there or damaged.
func (f *finder) items(key uint64) (*index.Group, bool) {
	if g, ok := f.cached.Get(key, f.state.Number); ok {
		return g, true
	}
	g, size, ok := f.read(key)
	if ok && !g.Partial {
		f.cached.Put(key, f.state.Number, g, size)
	}
	return g, ok
}

// read reads a group from the store, and says about what it takes in memory;
// false: it is not there or damaged.
func (f *finder) read(key uint64) (g *index.Group, size int, ok bool) {
	f.key = kv.AppendKey(f.key[:0], key, kv.GroupRecord)
	if f.records == nil {
		f.records = f.state.Data.Prefix(kv.Items)
	}
	if !f.records.Seek(f.key) || kv.KeyPart(f.records.Key(), 1) != kv.GroupRecord {
		return nil, 0, false
	}
	stored := f.records.Value()
	data, err := record.ReadGroup(stored)
	if err != nil {
		return nil, 0, false
	}
	g = &index.Group{Group: data}
	size = len(stored)
	most := f.cached.MaxBytes() - 3*size // texts and negatives, as searches use them
	var texts []byte
	for f.records.Next() {
		if most -= len(f.records.Value()) + index.CacheOverhead; most < 0 {
			g.IDs, g.Ends, g.Partial = nil, nil, true
			return g, 0, true
		}
		if texts, err = g.AddPage(&f.pages, texts, f.records.Value()); err != nil {
			return nil, 0, false
		}
	}
	if f.records.Err() != nil {
		return nil, 0, false
	}
	g.Texts = string(texts)
	return g, index.GroupBytes(size, g), true
}

// keywordText returns the text of a keyword of a group.
func (f *finder) keywordText(g *index.Group, at kv.Place) (string, bool) {
	if !g.Partial {
		return g.KeywordText(at.Keyword)
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
		f.records = f.state.Data.Prefix(kv.Items)
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
