package oracletest

import (
	"slices"

	"pgregory.net/rapid"

	"adshard/backend"
)

// Mutate makes one random change. It returns the entries that a feed would have for it, with clocks that continue
// from w.Clock: the removals of a parent's groups come before that of the parent, and a change of a campaign's
// languages is followed by a change of each of its groups. It returns none if there was nothing to change.
func (w *World) Mutate(t *rapid.T) []backend.Change {
	kind := rapid.IntRange(0, 19).Draw(t, "kind of change")
	switch {
	case kind < 11 && len(w.Items) > 0:
		return w.mutateGroup(t, oneOf(t, "group to change", w.Items))
	case kind == 11 && len(w.Items) > 0:
		return w.RemoveGroup(oneOf(t, "group to remove", w.Items).Group.ID)
	case kind < 16 && len(w.Campaigns) > 0:
		return w.mutateCampaign(t, oneOf(t, "campaign to change", w.Campaigns))
	case kind == 16 && len(w.Campaigns) > 1:
		return w.RemoveCampaign(oneOf(t, "campaign to remove", w.Campaigns).ID)
	case kind == 17 && len(w.Advertisers) > 0:
		return w.mutateAdvertiser(t, oneOf(t, "advertiser to change", w.Advertisers))
	case kind == 18 && len(w.Advertisers) > 1:
		return w.RemoveAdvertiser(oneOf(t, "advertiser to remove", w.Advertisers).ID)
	}
	return w.grow(t)
}

// grow adds an advertiser, a campaign or a group with keywords.
func (w *World) grow(t *rapid.T) []backend.Change {
	kind := rapid.IntRange(0, 3).Draw(t, "what to add")
	switch {
	case kind == 3 || len(w.Advertisers) == 0:
		a := w.addAdvertiser(t)
		return []backend.Change{{Clock: a.Version, Kind: backend.KindAdvertiser, ID: a.ID, AdvertiserID: a.ID}}
	case kind == 2 || len(w.Campaigns) == 0:
		c := w.addCampaign(t)
		return []backend.Change{campaignChange(c)}
	}
	it := w.addGroup(t)
	for range rapid.IntRange(0, 5).Draw(t, "new keywords") {
		w.addKeyword(t, it)
	}
	return []backend.Change{groupChange(it)}
}

// mutateGroup changes a group or something in it.
func (w *World) mutateGroup(t *rapid.T, old *backend.Item) []backend.Change {
	it := cloneItem(old)
	switch rapid.IntRange(0, 9).Draw(t, "change of the group") {
	case 0, 1:
		w.addKeyword(t, it)
	case 2:
		it.Keywords = without(t, it.Keywords)
	case 3, 4:
		if k := pick(t, it.Keywords); k != nil {
			k.Bid, k.HasBid = drawBid(t)
			k.Quality, k.Learned, k.FinalURL = drawQuality(t), drawLearned(t), drawURL(t)
		}
	case 5:
		if k := pick(t, it.Keywords); k != nil {
			k.Enabled = !k.Enabled
		}
	case 6:
		it.Group.Bid, it.Group.HasBid = drawBid(t)
	case 7:
		it.Group.Modifiers = drawModifiers(t)
	case 8:
		it.Group.Enabled, it.Group.Hold = rapid.Bool().Draw(t, "enabled"), drawHold(t)
	case 9:
		w.mutateFragments(t, it)
	}
	return w.putItem(it)
}

// mutateFragments changes a group's ads or negatives.
func (w *World) mutateFragments(t *rapid.T, it *backend.Item) {
	switch rapid.IntRange(0, 4).Draw(t, "change of fragments") {
	case 0:
		w.addAd(t, it)
	case 1:
		it.Ads = without(t, it.Ads)
	case 2:
		if a := pick(t, it.Ads); a != nil {
			a.Enabled = !a.Enabled
		}
	case 3:
		it.Negatives = w.withNegative(t, it.Negatives, backend.Negative{CampaignID: it.Group.CampaignID, GroupID: it.Group.ID})
	case 4:
		it.Negatives = without(t, it.Negatives)
	}
}

// mutateCampaign changes a campaign's record or its negatives.
func (w *World) mutateCampaign(t *rapid.T, old *backend.Campaign) []backend.Change {
	c := new(*old)
	c.Negatives = slices.Clone(old.Negatives)
	switch rapid.IntRange(0, 9).Draw(t, "change of the campaign") {
	case 0:
		c.Enabled = !c.Enabled
	case 1:
		c.BudgetExhausted = !c.BudgetExhausted
	case 2:
		c.Modifiers = drawModifiers(t)
	case 3:
		c.RotateEvenly = !c.RotateEvenly
	case 4:
		c.Negatives = w.withNegative(t, c.Negatives, backend.Negative{CampaignID: c.ID})
	case 5:
		c.Negatives = without(t, c.Negatives)
	case 6:
		c.Languages = drawLanguages(t)
	case 7:
		c.Withheld = drawWithheld(t)
	case 8:
		drawBudget(t, c)
	case 9:
		c.Hold = drawHold(t)
	}
	return w.putCampaign(c, c.Languages != old.Languages)
}

func (w *World) mutateAdvertiser(t *rapid.T, old *backend.Advertiser) []backend.Change {
	a := new(*old)
	a.Negatives = slices.Clone(old.Negatives)
	switch rapid.IntRange(0, 2).Draw(t, "change of the advertiser") {
	case 0:
		a.Enabled = !a.Enabled
	case 1:
		a.Negatives = w.withNegative(t, a.Negatives, backend.Negative{AdvertiserID: a.ID})
	case 2:
		a.Negatives = without(t, a.Negatives)
	}
	a.Version = w.tick()
	w.Advertisers[slices.Index(w.Advertisers, old)] = a
	return []backend.Change{{Clock: a.Version, Kind: backend.KindAdvertiser, ID: a.ID, AdvertiserID: a.ID}}
}

// RemoveGroup removes a group with everything that it holds.
func (w *World) RemoveGroup(id uint64) []backend.Change {
	it := w.Item(id)
	if it == nil {
		return nil
	}
	w.Items = slices.DeleteFunc(w.Items, func(o *backend.Item) bool { return o == it })
	return []backend.Change{w.removed(groupChange(it))}
}

// RemoveCampaign removes a campaign with its groups.
func (w *World) RemoveCampaign(id uint64) (changes []backend.Change) {
	c := w.Campaign(id)
	if c == nil {
		return nil
	}
	for _, it := range slices.Clone(w.Items) {
		if it.Group.CampaignID == id {
			changes = append(changes, w.RemoveGroup(it.Group.ID)...)
		}
	}
	w.Campaigns = slices.DeleteFunc(w.Campaigns, func(o *backend.Campaign) bool { return o == c })
	return append(changes, w.removed(campaignChange(c)))
}

// RemoveAdvertiser removes an advertiser with its campaigns.
func (w *World) RemoveAdvertiser(id uint64) (changes []backend.Change) {
	a := w.Advertiser(id)
	if a == nil {
		return nil
	}
	for _, c := range slices.Clone(w.Campaigns) {
		if c.AdvertiserID == id {
			changes = append(changes, w.RemoveCampaign(c.ID)...)
		}
	}
	w.Advertisers = slices.DeleteFunc(w.Advertisers, func(o *backend.Advertiser) bool { return o == a })
	return append(changes, w.removed(backend.Change{Kind: backend.KindAdvertiser, ID: id, AdvertiserID: id}))
}

// SetBudget marks a campaign's budget as exhausted or not.
func (w *World) SetBudget(id uint64, exhausted bool) []backend.Change {
	old := w.Campaign(id)
	if old == nil {
		return nil
	}
	c := new(*old)
	c.BudgetExhausted = exhausted
	return w.putCampaign(c, false)
}

func (w *World) putItem(it *backend.Item) []backend.Change {
	it.Group.Version = w.tick()
	for i, o := range w.Items {
		if o.Group.ID == it.Group.ID {
			w.Items[i] = it
		}
	}
	return []backend.Change{groupChange(it)}
}

func (w *World) putCampaign(c *backend.Campaign, languages bool) []backend.Change {
	c.Version = w.tick()
	for i, o := range w.Campaigns {
		if o.ID == c.ID {
			w.Campaigns[i] = c
		}
	}
	changes := []backend.Change{campaignChange(c)}
	for _, it := range slices.Clone(w.Items) {
		if languages && it.Group.CampaignID == c.ID {
			changes = append(changes, w.putItem(cloneItem(it))...)
		}
	}
	return changes
}

// removed returns a change as a removal, with the next clock.
func (w *World) removed(c backend.Change) backend.Change {
	c.Clock, c.Removed = w.tick(), true
	return c
}

func groupChange(it *backend.Item) backend.Change {
	g := &it.Group
	return backend.Change{Clock: g.Version, Kind: backend.KindGroup, ID: g.ID, AdvertiserID: g.AdvertiserID, CampaignID: g.CampaignID}
}

func campaignChange(c *backend.Campaign) backend.Change {
	return backend.Change{Clock: c.Version, Kind: backend.KindCampaign, ID: c.ID, AdvertiserID: c.AdvertiserID}
}

func cloneItem(it *backend.Item) *backend.Item {
	return &backend.Item{
		Group: it.Group, Keywords: slices.Clone(it.Keywords),
		Negatives: slices.Clone(it.Negatives), Ads: slices.Clone(it.Ads),
	}
}

// pick draws an element to change. It returns nil if the list is empty.
func pick[T any](t *rapid.T, list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[rapid.IntRange(0, len(list)-1).Draw(t, "which")]
}

// without returns the list without one element, drawn at random.
func without[T any](t *rapid.T, list []T) []T {
	if len(list) == 0 {
		return list
	}
	i := rapid.IntRange(0, len(list)-1).Draw(t, "which to remove")
	return slices.Delete(slices.Clone(list), i, i+1)
}
