package sqlite

import (
	"context"

	"adshard/backend"
	"adshard/backend/upsert"
)

// Keyword implements backend.Tx.
func (t *tx) Keyword(ctx context.Context, group uint64, p backend.KeywordPatch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	key, err := upsert.KeyOf(p.Words, p.Type)
	if err == nil {
		err = upsert.CheckKeyword(p)
	}
	if err != nil {
		return err
	}
	if p.Status == backend.Remove {
		return t.fail(ctx, t.keywords.Remove(ctx, group, key))
	}
	if err := t.bound(ctx); err != nil {
		return t.fail(ctx, err)
	}
	return t.fail(ctx, t.keywords.Put(ctx, group, key, upsert.NewKeyword(), func(v *upsert.Keyword) { v.Apply(p, key.Words) }))
}

// Negative implements backend.Tx.
func (t *tx) Negative(ctx context.Context, owner backend.NegativeOwner, p backend.NegativePatch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	key, err := upsert.KeyOf(p.Words, p.Type)
	if err != nil {
		return err
	}
	table, id := t.negatives, owner.Group
	if id == 0 {
		table, id = t.campaignNeg, owner.Campaign
	}
	if p.Status == backend.Remove {
		return t.fail(ctx, table.Remove(ctx, id, key))
	}
	if err := t.bound(ctx); err != nil {
		return t.fail(ctx, err)
	}
	return t.fail(ctx, table.Put(ctx, id, key, upsert.NewNegative(), func(v *upsert.Negative) { v.Apply(p, key.Words) }))
}

// Ad implements backend.Tx.
func (t *tx) Ad(ctx context.Context, group uint64, p backend.AdPatch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	key, err := upsert.ContentOf(p)
	if err != nil {
		return err
	}
	if p.Status == backend.Remove {
		return t.fail(ctx, t.ads.Remove(ctx, group, key))
	}
	if err := t.bound(ctx); err != nil {
		return t.fail(ctx, err)
	}
	return t.fail(ctx, t.ads.Put(ctx, group, key, upsert.NewAd(), func(v *upsert.Ad) { v.Apply(p) }))
}
