package sqlite

import (
	"context"
	"math"

	"adshard/backend"
	"adshard/fault"
	"adshard/search"
)

// Keyword implements backend.Tx.
func (t *tx) Keyword(ctx context.Context, group uint64, p backend.KeywordPatch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	key, err := naturalKey(p.Words, p.Type)
	if err == nil {
		err = checkKeyword(p)
	}
	if err != nil {
		return err
	}
	if p.Status == backend.Remove {
		return t.fail(ctx, t.keywords.remove(group, key))
	}
	if err := t.bound(); err != nil {
		return t.fail(ctx, err)
	}
	initial := keywordValue{enabled: true, quality: backend.DefaultQuality}
	return t.fail(ctx, t.keywords.put(group, key, initial, func(v *keywordValue) {
		v.text = sameText(p.Text, key.words)
		v.enabled = applyStatus(v.enabled, p.Status)
		v.bid = applyOptional(v.bid, p.Bid)
		v.quality = apply(v.quality, p.Quality, backend.DefaultQuality)
	}))
}

// Negative implements backend.Tx.
func (t *tx) Negative(ctx context.Context, owner backend.NegativeOwner, p backend.NegativePatch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	key, err := naturalKey(p.Words, p.Type)
	if err != nil {
		return err
	}
	table, id := &t.negatives, owner.Group
	if id == 0 {
		table, id = &t.campaignNeg, owner.Campaign
	}
	if p.Status == backend.Remove {
		return t.fail(ctx, table.remove(id, key))
	}
	if err := t.bound(); err != nil {
		return t.fail(ctx, err)
	}
	return t.fail(ctx, table.put(id, key, negativeValue{enabled: true}, func(v *negativeValue) {
		v.text = sameText(p.Text, key.words)
		v.enabled = applyStatus(v.enabled, p.Status)
	}))
}

// Ad implements backend.Tx.
func (t *tx) Ad(ctx context.Context, group uint64, p backend.AdPatch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	key := adContent{path1: p.Path1, path2: p.Path2, finalURL: p.FinalURL}
	var err error
	if key.headlines, err = encodeTexts(p.Headlines); err != nil {
		return err
	}
	if key.descriptions, err = encodeTexts(p.Descriptions); err != nil {
		return err
	}
	if p.Status == backend.Remove {
		return t.fail(ctx, t.ads.remove(group, key))
	}
	if err := t.bound(); err != nil {
		return t.fail(ctx, err)
	}
	return t.fail(ctx, t.ads.put(group, key, adValue{enabled: true}, func(v *adValue) {
		v.enabled = applyStatus(v.enabled, p.Status)
	}))
}

func naturalKey(words string, m search.MatchType) (phrase, error) {
	if words == "" {
		return phrase{}, fault.Field("sqlite: write", "words", "a keyword needs at least one word")
	}
	if m >= search.MatchTypes {
		return phrase{}, fault.Field("sqlite: write", "type", "there is no match type %d", m)
	}
	return phrase{words, m}, nil
}

func checkKeyword(p backend.KeywordPatch) error {
	if p.Bid.Op == backend.Set && p.Bid.Value > math.MaxInt64 {
		return fault.Field("sqlite: write", "bid", "a bid of %d micros is too high", p.Bid.Value)
	}
	if p.Quality.Op == backend.Set && (p.Quality.Value < 1 || p.Quality.Value > 10) {
		return fault.Field("sqlite: write", "quality", "a quality is 1 to 10, not %d", p.Quality.Value)
	}
	return nil
}

// sameText returns text, in the memory of words when they are equal.
func sameText(text, words string) string {
	if text == words {
		return words
	}
	return text
}

func applyStatus(enabled bool, s backend.Status) bool {
	switch s {
	case backend.Enable:
		return true
	case backend.Pause:
		return false
	}
	return enabled
}

func apply[T any](now T, p backend.Patch[T], normal T) T {
	switch p.Op {
	case backend.Set:
		return p.Value
	case backend.Reset:
		return normal
	}
	return now
}

func applyOptional(now optional, p backend.Patch[uint64]) optional {
	switch p.Op {
	case backend.Set:
		return optional{true, p.Value}
	case backend.Reset:
		return optional{}
	}
	return now
}
