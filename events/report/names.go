package report

import (
	"context"
	"slices"

	"adshard/backend"
	"adshard/events/token"
	"adshard/fault"
	"adshard/search/words"
)

// readTogether is the number of groups that are read at once.
const readTogether = 256

// known has the names and words of campaigns, from the backend database.
type known struct {
	s         backend.Snapshot
	campaigns map[uint64][]uint64 // the groups of each campaign that were shown
	keywords  map[uint64]keyword  // of the campaign read last, by id
	queries   map[uint64]string   // the words of its keywords, by their hash as a query
	words     words.Analyser
	damaged   int
}

type keyword struct{ text, matchType string }

// lookUp returns the names of a campaign and of its advertiser, or "" for those that do not exist.
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

// unlessDamaged counts errors that are damage, and returns other errors: counts of entities that
// cannot be read are still reported.
func (k *known) unlessDamaged(err error) error {
	if fault.Is(err, fault.Corrupt) {
		k.damaged++
		return nil
	}
	return err
}

// read reads the keywords of the groups of a campaign.
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
		for _, id := range some { // so that only the damaged group is left out
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
			var units []string
			for _, word := range list {
				units = words.AppendUnits(units[:0], word.Normalised)
				for _, unit := range units {
					norms = append(norms, words.Hash(unit))
				}
			}
			k.queries[token.QueryHash(norms...)] = w.Words
		}
	}
}
