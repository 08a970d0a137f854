package report

import (
	"context"
	"slices"

	"adshard/backend"
	"adshard/events/token"
	"adshard/fault"
	"adshard/search/words"
)

// readTogether is how many groups are read at once.
const readTogether = 256

// known is a campaign's names and words in the backend database.
type known struct {
	s         backend.Snapshot
	campaigns map[uint64][]uint64 // groups of those that were shown
	keywords  map[uint64]keyword  // of the last campaign, by id
	queries   map[uint64]string   // words of its keywords, by their hash as queries
	words     words.Analyser
	damaged   int
}

type keyword struct{ text, matchType string }

// lookUp returns the names of a campaign and its advertiser, as far as they are there.
func (k *known) lookUp(ctx context.Context, campaign uint64) (advertiser, name string, err error) {
	campaigns, err := k.s.Campaigns(ctx, []uint64{campaign})
	if err != nil || len(campaigns) == 0 {
		return "", "", k.unlessDamaged(err)
	}
	advertisers, err := k.s.Advertisers(ctx, []uint64{campaigns[0].AdvertiserID})
	if err != nil || len(advertisers) == 0 {
		return "", campaigns[0].Name, k.unlessDamaged(err)
	}
	return advertisers[0].Name, campaigns[0].Name, nil
}

// unlessDamaged counts damage, and returns other errors: counts of entities that cannot be read are
// still reported.
func (k *known) unlessDamaged(err error) error {
	if fault.Is(err, fault.Corrupt) {
		k.damaged++
		return nil
	}
	return err
}

// read reads the keywords of a campaign.
func (k *known) read(ctx context.Context, campaign uint64) error {
	k.keywords, k.queries = make(map[uint64]keyword), make(map[uint64]string)
	for some := range slices.Chunk(k.campaigns[campaign], readTogether) {
		items, err := k.s.Items(ctx, some)
		if !fault.Is(err, fault.Corrupt) {
			if err != nil {
				return err
			}
			k.add(items)
			continue
		}
		for _, id := range some { // all but the one that is damaged
			items, err := k.s.Items(ctx, []uint64{id})
			if err := k.unlessDamaged(err); err != nil {
				return err
			}
			k.add(items)
		}
	}
	return nil
}

func (k *known) add(items []*backend.Item) {
	for _, it := range items {
		for i := range it.Keywords {
			w := &it.Keywords[i]
			k.keywords[w.ID] = keyword{w.Text, w.Type.String()}
			list, err := k.words.Split(w.Text)
			if err != nil {
				continue // no query has such words
			}
			var norms []uint64
			for _, word := range list {
				norms = append(norms, word.Norm)
			}
			k.queries[token.QueryHash(norms...)] = w.Words
		}
	}
}
