package layouts

import (
	"context"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/corpus"
	"adshard/search/words"
)

// FromCorpus makes a set from a corpus' keywords. All are broad and enabled, with
// normalised distinct words, in their groups, campaigns and advertisers, and
// without negatives and device modifiers. FromCorpus calls progress, if it is not
// nil, with the share that is done, 0 to 1. The same options give the same set.
func FromCorpus(ctx context.Context, c *corpus.Corpus, o corpus.Options, progress func(done float64)) (*Set, error) {
	m := maker{Builder: NewBuilder(), advertisers: make(map[string]uint64), campaigns: make(map[parent]uint64)}
	told := 0
	for g, err := range c.Groups(ctx, o) {
		if err != nil {
			return nil, err
		}
		if err := m.add(g); err != nil {
			return nil, err
		}
		if n := m.set.Len(); progress != nil && n-told >= 100_000 {
			told = n
			progress(float64(n) / float64(o.Keywords))
		}
	}
	return m.Set(), nil
}

// maker makes a set from a corpus' groups.
type maker struct {
	*Builder
	analyser    words.Analyser
	advertisers map[string]uint64
	campaigns   map[parent]uint64
}

// parent identifies a campaign by its advertiser and name.
type parent struct {
	advertiser uint64
	name       string
}

func (m *maker) add(g *corpus.Group) error {
	advertiser := numbered(m.advertisers, g.Advertiser)
	m.Group(numbered(m.campaigns, parent{advertiser, g.Campaign}), advertiser)
	for _, k := range g.Keywords {
		if m.full() {
			return fault.Newf(fault.Invalid, "layouts: set", "there are too many words for one set: ask for fewer keywords")
		}
		list, err := m.analyser.Keyword(k.Text)
		if err != nil {
			return err
		}
		for _, w := range list {
			m.Word(w.Normalised)
		}
		bid, quality := k.Bid, k.Quality
		if bid == 0 {
			bid = g.Bid
		}
		if quality == 0 {
			quality = backend.DefaultQuality
		}
		m.Keyword(uint32(bid*microsPerCent), uint8(quality))
	}
	return nil
}

// numbered returns a name's number. Names are numbered from 1 in the order of
// their first use.
func numbered[K comparable](m map[K]uint64, name K) uint64 {
	id, ok := m[name]
	if !ok {
		id = uint64(len(m)) + 1
		m[name] = id
	}
	return id
}
