package freshness

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/search"
)

// scene is the data that a run writes: two advertisers with one campaign,
// group and ad each, which bid on one word.
type scene struct {
	store backend.Store
	word  string
	sides [2]side
}

// side is one of the two advertisers.
type side struct {
	name                        string
	advertiser, campaign, group uint64
}

// The bids in micros.
const (
	lowBid  = 1_000_000
	highBid = 2_000_000
)

func newScene(store backend.Store, id uint64) *scene {
	word := fmt.Sprintf("adbench%x", id)
	return &scene{store: store, word: word, sides: [2]side{{name: word + " one"}, {name: word + " two"}}}
}

// commit runs one transaction.
func (s *scene) commit(ctx context.Context, write func(backend.Tx) error) error {
	return commit(ctx, s.store, write)
}

// build writes both sides, the second one without a keyword.
func (s *scene) build(ctx context.Context) error {
	return s.commit(ctx, func(tx backend.Tx) error {
		for i := range s.sides {
			if err := s.sides[i].build(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *side) build(ctx context.Context, tx backend.Tx) (err error) {
	if p.advertiser, err = tx.Advertiser(ctx, p.name); err != nil {
		return err
	}
	if p.campaign, err = tx.Campaign(ctx, p.advertiser, "campaign", backend.CampaignPatch{}); err != nil {
		return err
	}
	if p.group, err = tx.Group(ctx, p.campaign, "group", backend.GroupPatch{Bid: backend.To[uint64](lowBid)}); err != nil {
		return err
	}
	return tx.Ad(ctx, p.group, backend.AdPatch{
		Headlines: []string{p.name}, Descriptions: []string{"Written by adbench, removed when it ends."},
		FinalURL: "https://adbench.example/",
	})
}

// keyword writes a side's keyword for a word.
func (s *scene) keyword(ctx context.Context, side int, word string, status backend.Status, bid uint64) error {
	k := backend.KeywordPatch{Text: word, Words: word, Type: search.Broad, Status: status, Bid: backend.To(bid)}
	return s.commit(ctx, func(tx backend.Tx) error { return tx.Keyword(ctx, s.sides[side].group, k) })
}

// status pauses or enables a side's group.
func (s *scene) status(ctx context.Context, side int, status backend.Status) error {
	return s.commit(ctx, func(tx backend.Tx) error {
		_, err := tx.Group(ctx, s.sides[side].campaign, "group", backend.GroupPatch{Status: status})
		return err
	})
}

// remove removes both sides.
func (s *scene) remove(ctx context.Context) error {
	return s.commit(ctx, func(tx backend.Tx) error {
		for _, p := range s.sides {
			if p.advertiser == 0 {
				continue
			}
			if err := tx.UpdateAdvertiser(ctx, p.advertiser, backend.AdvertiserPatch{Status: backend.Remove}); err != nil {
				return err
			}
		}
		return nil
	})
}
