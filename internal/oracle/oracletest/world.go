package oracletest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/search/words"
)

// World is all data of a source of truth at one clock. Entities are never changed in place: a mutation replaces them,
// so that a shallow copy (Clone) keeps the former state.
type World struct {
	Advertisers []*backend.Advertiser // in ascending id order
	Campaigns   []*backend.Campaign   // in ascending id order
	Items       []*backend.Item       // by ascending group id
	// Clock is the newest version given to an entity.
	Clock uint64
	// Languages are those in which words have stems.
	Languages words.Languages

	next ids
}

// ids are the last ids given, by kind.
type ids struct {
	advertiser, campaign, group, keyword, negative, ad uint64
}

// take returns the next id of a kind.
func take(next *uint64) uint64 {
	*next++
	return *next
}

// Clone returns a copy that later mutations of w do not change.
func (w *World) Clone() World {
	c := *w
	c.Advertisers = slices.Clone(w.Advertisers)
	c.Campaigns = slices.Clone(w.Campaigns)
	c.Items = slices.Clone(w.Items)
	return c
}

// Advertiser returns the advertiser with this id, or nil if there is none.
func (w *World) Advertiser(id uint64) *backend.Advertiser {
	for _, a := range w.Advertisers {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// Campaign returns the campaign with this id, or nil if there is none.
func (w *World) Campaign(id uint64) *backend.Campaign {
	for _, c := range w.Campaigns {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Item returns the group with this id, or nil if there is none.
func (w *World) Item(id uint64) *backend.Item {
	for _, it := range w.Items {
		if it.Group.ID == id {
			return it
		}
	}
	return nil
}

// Draw draws a world: 1 to 9 advertisers, up to 12 campaigns, 24 groups and
// 100 keywords.
func Draw(t *rapid.T) World {
	var w World
	for range oneOf(t, "advertisers", []int{3, 1, 2, 4, 5, 6, 9}) {
		w.addAdvertiser(t)
	}
	for range oneOf(t, "campaigns", []int{4, 1, 3, 8, 12}) {
		w.addCampaign(t)
	}
	for range oneOf(t, "groups", []int{6, 1, 3, 12, 24}) {
		w.addGroup(t)
	}
	for range oneOf(t, "keywords", []int{20, 1, 5, 40, 60, 100}) {
		w.addKeyword(t, oneOf(t, "group", w.Items))
	}
	return w
}

func (w *World) tick() uint64 {
	w.Clock++
	return w.Clock
}

func (w *World) addAdvertiser(t *rapid.T) *backend.Advertiser {
	a := &backend.Advertiser{ID: take(&w.next.advertiser), AdvertiserSettings: backend.AdvertiserSettings{Enabled: mostly(t, "advertiser enabled")}, Version: w.tick()}
	a.Name = fmt.Sprintf("advertiser %d", a.ID)
	for range rarely(t, "advertiser negatives") {
		a.Negatives = w.withNegative(t, a.Negatives, backend.Negative{AdvertiserID: a.ID})
	}
	w.Advertisers = append(w.Advertisers, a)
	return a
}

func (w *World) addCampaign(t *rapid.T) *backend.Campaign {
	c := &backend.Campaign{
		ID:               take(&w.next.campaign),
		AdvertiserID:     oneOf(t, "advertiser", w.Advertisers).ID,
		CampaignSettings: backend.CampaignSettings{Enabled: mostly(t, "campaign enabled"), Modifiers: drawModifiers(t), Languages: drawLanguages(t), RotateEvenly: rapid.Bool().Draw(t, "even rotation")},
		BudgetExhausted:  !mostly(t, "has budget left"),
		Withheld:         drawWithheld(t),
		Version:          w.tick(),
	}
	c.Name = fmt.Sprintf("campaign %d", c.ID)
	drawBudget(t, c)
	if !mostly(t, "campaign not held") {
		c.Hold = drawHold(t)
	}
	for range rarely(t, "campaign negatives") {
		c.Negatives = w.withNegative(t, c.Negatives, backend.Negative{CampaignID: c.ID})
	}
	w.Campaigns = append(w.Campaigns, c)
	return c
}

func (w *World) addGroup(t *rapid.T) *backend.Item {
	c := oneOf(t, "campaign", w.Campaigns)
	it := &backend.Item{Group: backend.Group{
		ID: take(&w.next.group), CampaignID: c.ID, AdvertiserID: c.AdvertiserID,
		GroupSettings: backend.GroupSettings{Enabled: mostly(t, "group enabled"), Modifiers: drawModifiers(t)}, Version: w.tick(),
	}}
	g := &it.Group
	g.Name = fmt.Sprintf("group %d", g.ID)
	g.Bid, g.HasBid = drawBid(t)
	if !mostly(t, "group not held") {
		g.Hold = drawHold(t)
	}
	for range rarely(t, "group negatives") {
		it.Negatives = w.withNegative(t, it.Negatives, backend.Negative{CampaignID: g.CampaignID, GroupID: g.ID})
	}
	if mostly(t, "has ads") {
		for range rapid.IntRange(1, 3).Draw(t, "ads") {
			w.addAd(t, it)
		}
	}
	w.Items = append(w.Items, it)
	return it
}

func (w *World) addAd(t *rapid.T, it *backend.Item) {
	id := take(&w.next.ad)
	ad := backend.Ad{
		ID: id, GroupID: it.Group.ID, Enabled: mostly(t, "ad enabled"),
		Headlines:    []string{fmt.Sprintf("headline %d", id), drawAdText(t)},
		Descriptions: []string{drawAdText(t)},
		Path1:        drawAdText(t), FinalURL: fmt.Sprintf("https://example.com/%d", id),
	}
	if !mostly(t, "a plain headline") {
		ad.Headlines = []string{drawAdText(t)}
	}
	it.Ads = append(slices.Clip(it.Ads), ad)
}

// addKeyword adds a keyword unless the group has one with the same words and match type.
func (w *World) addKeyword(t *rapid.T, it *backend.Item) {
	text, normalised := drawKeyword(t)
	k := backend.Keyword{
		GroupID: it.Group.ID, Text: text, Words: normalised,
		Type: drawType(t), KeywordSettings: backend.KeywordSettings{Enabled: mostly(t, "keyword enabled"), Quality: drawQuality(t), Learned: drawLearned(t), FinalURL: drawURL(t)},
	}
	k.Bid, k.HasBid = drawBid(t)
	same := func(o backend.Keyword) bool { return o.Words == k.Words && o.Type == k.Type }
	if slices.ContainsFunc(it.Keywords, same) {
		return
	}
	k.ID = take(&w.next.keyword)
	it.Keywords = append(slices.Clip(it.Keywords), k)
}

// withNegative returns the list with one more negative, unless the list has it already. n has only the owner set.
func (w *World) withNegative(t *rapid.T, list []backend.Negative, n backend.Negative) []backend.Negative {
	n.Text, n.Words = drawNegative(t)
	n.Type, n.Enabled = drawType(t), mostly(t, "negative enabled")
	same := func(o backend.Negative) bool { return o.Words == n.Words && o.Type == n.Type }
	if slices.ContainsFunc(list, same) {
		return list
	}
	n.ID = take(&w.next.negative)
	return append(slices.Clip(list), n)
}
