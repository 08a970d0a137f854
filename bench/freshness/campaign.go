package freshness

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"adshard/backend"
	"adshard/search"
)

// campaign is what a course changes: one campaign of ad groups, each with one ad and a
// keyword on a word of its own. The ad's address contains the version of the group.
type campaign struct {
	store                backend.Store
	name                 string
	advertiser, campaign uint64
	groups               []uint64
	versions             []int // by group
}

func newCampaign(store backend.Store, id uint64, groups int) *campaign {
	return &campaign{store: store, name: fmt.Sprintf("adbench%x", id), groups: make([]uint64, groups), versions: make([]int, groups)}
}

// word returns the word of a group.
func (c *campaign) word(group int) string { return fmt.Sprintf("%sw%d", c.name, group) }

// addressOf is the prefix of the address of an ad, before its version; versionIn parses
// it.
const addressOf = "https://adbench.example/"

func versionIn(address string) (int, error) {
	rest, ok := strings.CutPrefix(address, addressOf)
	n, err := strconv.Atoi(rest)
	if !ok || err != nil {
		return 0, fmt.Errorf("an answer shows %q, which is not an ad of this measurement", address)
	}
	return n, nil
}

// commit runs one transaction.
func commit(ctx context.Context, store backend.Store, write func(backend.Tx) error) error {
	tx, err := store.Begin(ctx)
	if err != nil {
		return err
	}
	if err := write(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit(ctx)
}

// build writes the campaign with version 0 of all groups.
func (c *campaign) build(ctx context.Context) error {
	return commit(ctx, c.store, func(tx backend.Tx) (err error) {
		if c.advertiser, err = tx.Advertiser(ctx, c.name); err != nil {
			return err
		}
		if c.campaign, err = tx.Campaign(ctx, c.advertiser, "campaign", backend.CampaignPatch{}); err != nil {
			return err
		}
		for g := range c.groups {
			if c.groups[g], err = tx.Group(ctx, c.campaign, fmt.Sprint("group ", g), backend.GroupPatch{Bid: backend.To[uint64](lowBid)}); err != nil {
				return err
			}
			word := c.word(g)
			if err := tx.Keyword(ctx, c.groups[g], backend.KeywordPatch{Text: word, Words: word, Type: search.Broad}); err != nil {
				return err
			}
			if err := tx.Ad(ctx, c.groups[g], c.ad(0, backend.Enable)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *campaign) ad(version int, status backend.Status) backend.AdPatch {
	return backend.AdPatch{
		Headlines: []string{c.name}, Descriptions: []string{"Written by adbench, removed when it ends."},
		FinalURL: addressOf + strconv.Itoa(version), Status: status,
	}
}

// change replaces the ads of groups by those of the next versions, all in one
// transaction.
func (c *campaign) change(ctx context.Context, groups ...int) error {
	err := commit(ctx, c.store, func(tx backend.Tx) error {
		for _, g := range groups {
			if err := tx.Ad(ctx, c.groups[g], c.ad(c.versions[g]+1, backend.Enable)); err != nil {
				return err
			}
			if err := tx.Ad(ctx, c.groups[g], c.ad(c.versions[g], backend.Remove)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, g := range groups {
		c.versions[g]++
	}
	return nil
}

// remove removes the campaign.
func (c *campaign) remove(ctx context.Context) error {
	if c.advertiser == 0 {
		return nil
	}
	return commit(ctx, c.store, func(tx backend.Tx) error {
		return tx.UpdateAdvertiser(ctx, c.advertiser, backend.AdvertiserPatch{Status: backend.Remove})
	})
}
