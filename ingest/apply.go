package ingest

import (
	"context"

	"adshard/backend"
)

// applier writes entries into one transaction. It caches the parents of the
// last entry, since a file's rows are mostly sorted by group.
type applier struct {
	tx       backend.Tx
	last     parents
	keywords *pendingKeywords
	effects  effectSets
	near     *nearNames
	bids     bids
	sayings  *sayings
	// contradicts is called with a row that gives an entity different values than an earlier row of the file.
	contradicts func(e *entry, of kind)
	holds       *holdings
	// campaign and group say how the row changes the holds of its campaign and its group.
	campaign, group rowHold
	// created is set if the last call created the entity that it names.
	created bool
	// misspelt is called with a name that was created although a similar one exists.
	misspelt func(e *entry, of kind, name, near string)
	// paused is called with a row whose campaign existed and is now paused because of its type.
	paused func(e *entry)
	// locations buffers the locations that rows have changed. pausedNames holds the campaigns that stay paused.
	locations   pendingLocations
	pausedNames *pausedNames
}

// watch implements backend.Watcher.
func (a *applier) watch(entity backend.Entity, id uint64, effect backend.Effect) {
	a.created = effect == backend.Created
	a.effects.watch(entity, id, effect)
}

// named looks for names similar to the one that the last call created, if it created one.
func (a *applier) named(ctx context.Context, e *entry, of kind, advertiser uint64, name string) error {
	if !a.created {
		return nil
	}
	near, err := a.near.created(ctx, a.tx, advertiser, name)
	if near != "" {
		a.misspelt(e, of, name, near)
	}
	return err
}

// parents is a path of names with the ids found for them. An id is 0 if its name has not been looked up yet.
type parents struct {
	advertiser, campaign, group       string
	advertiserID, campaignID, groupID uint64
}

// apply writes the entry e, which has not been rejected.
func (a *applier) apply(ctx context.Context, e *entry) error {
	if e.pauses {
		return a.pause(ctx, e)
	}
	if e.removes() {
		a.last, a.campaign = parents{}, rowHold{} // the removal may make cached ids invalid
		if err := a.flush(ctx); err != nil {
			return err
		}
		return a.remove(ctx, e)
	}
	if e.kind == kindLocation {
		if err := a.roomFor(ctx, e); err != nil {
			return err
		}
	}
	if err := a.parents(ctx, e); err != nil {
		return err
	}
	switch e.kind {
	case kindKeyword:
		if a.keywords.add(a.last.groupID, e.keyword) {
			a.contradicts(e, kindKeyword)
		}
	case kindGroupNegative:
		return a.tx.Negative(ctx, backend.NegativeOwner{Campaign: a.last.campaignID, Group: a.last.groupID}, e.negative)
	case kindCampaignNegative:
		return a.tx.Negative(ctx, backend.NegativeOwner{Campaign: a.last.campaignID}, e.negative)
	case kindAdvertiserNegative:
		return a.tx.Negative(ctx, backend.NegativeOwner{Advertiser: a.last.advertiserID}, e.negative)
	case kindAd:
		return a.tx.Ad(ctx, a.last.groupID, e.ad)
	case kindLocation:
		return a.locate(ctx, e, a.last.advertiserID)
	}
	return nil
}

// flush writes the pending keywords and locations.
func (a *applier) flush(ctx context.Context) error {
	if err := a.keywords.flush(ctx, a); err != nil {
		return err
	}
	return a.locations.flush(ctx, a.tx)
}

// roomFor looks, before anything of a location row is applied, whether its campaign may have one more. Errors: errManyLocations.
func (a *applier) roomFor(ctx context.Context, e *entry) error {
	advertiser := a.last.advertiserID
	if a.last.advertiser != e.advertiser || advertiser == 0 {
		var err error
		if advertiser, err = a.tx.FindAdvertiser(ctx, e.advertiser); err != nil || advertiser == 0 {
			return err
		}
	}
	return a.locations.roomFor(ctx, a.tx, campaignName{e.advertiser, e.campaign}, advertiser, e.location)
}

// locate applies a location row.
func (a *applier) locate(ctx context.Context, e *entry, advertiser uint64) error {
	return a.locations.change(ctx, a.tx, campaignName{e.advertiser, e.campaign}, advertiser, e.location)
}

// parents finds or creates the parents that the row names, applies its changes to
// them, and leaves their ids in a.last.
func (a *applier) parents(ctx context.Context, e *entry) (err error) {
	p := &a.last
	if p.advertiserID == 0 || p.advertiser != e.advertiser {
		*p = parents{advertiser: e.advertiser}
		a.created = false
		if p.advertiserID, err = a.tx.Advertiser(ctx, e.advertiser); err != nil {
			return err
		}
		if a.created {
			a.near.account(p.advertiserID) // a new advertiser has no campaigns to read
		}
		if err = a.named(ctx, e, kindAdvertiser, 0, e.advertiser); err != nil {
			return err
		}
	}
	if err := a.patchAdvertiser(ctx, e, p.advertiserID); err != nil {
		return err
	}
	if e.campaign == "" {
		return nil
	}
	if p.campaignID == 0 || p.campaign != e.campaign || e.patchesCampaign || e.kind == kindCampaign {
		if p.campaign != e.campaign {
			p.groupID = 0
		}
		p.campaign = e.campaign
		a.created = false
		if p.campaignID, err = a.applyCampaign(ctx, e, p.advertiserID); err != nil {
			return err
		}
		if err = a.named(ctx, e, kindCampaign, p.advertiserID, e.campaign); err != nil {
			return err
		}
		if e.patchesCampaign && a.sayings.campaign(p.campaignID, &e.campaignPatch) {
			a.contradicts(e, kindCampaign)
		}
	}
	if e.group == "" {
		return nil
	}
	if p.groupID == 0 || p.group != e.group || e.patchesGroup || e.kind == kindGroup {
		p.group = e.group
		if p.groupID, err = a.applyGroup(ctx, e, p.campaignID); err != nil {
			return err
		}
		a.bids.group(p.groupID, e.groupPatch.Bid.Op)
		if e.patchesGroup && a.sayings.group(p.groupID, &e.groupPatch) {
			a.contradicts(e, kindGroup)
		}
	}
	return nil
}

// patchAdvertiser applies the row's changes to its advertiser, if there are any.
func (a *applier) patchAdvertiser(ctx context.Context, e *entry, id uint64) error {
	if e.advertiserPatch == (backend.AdvertiserPatch{}) {
		return nil
	}
	return a.tx.UpdateAdvertiser(ctx, id, e.advertiserPatch)
}

// pause pauses the row's campaign, if it exists.
func (a *applier) pause(ctx context.Context, e *entry) error {
	advertiser, err := a.tx.FindAdvertiser(ctx, e.advertiser)
	if err != nil || advertiser == 0 {
		return err
	}
	campaign, err := a.tx.FindCampaign(ctx, advertiser, e.campaign)
	if err != nil || campaign == 0 {
		return err
	}
	a.paused(e)
	_, err = a.tx.Campaign(ctx, advertiser, e.campaign, backend.CampaignPatch{Status: backend.Pause})
	return err
}

// remove applies a row that removes something. It finds entities and never creates them. The row's other cells apply
// to the entities that exist and are not removed.
func (a *applier) remove(ctx context.Context, e *entry) error {
	advertiser, err := a.tx.FindAdvertiser(ctx, e.advertiser)
	if err != nil || advertiser == 0 {
		return err
	}
	if e.kind == kindAdvertiser {
		a.near.removed(0, e.advertiser)
	}
	if err := a.patchAdvertiser(ctx, e, advertiser); err != nil || e.kind == kindAdvertiser {
		return err
	}
	if e.kind == kindAdvertiserNegative {
		return a.tx.Negative(ctx, backend.NegativeOwner{Advertiser: advertiser}, e.negative)
	}
	campaign, err := a.tx.FindCampaign(ctx, advertiser, e.campaign)
	if err != nil || campaign == 0 {
		return err
	}
	if e.patchesCampaign {
		_, err := a.applyCampaign(ctx, e, advertiser)
		if e.campaignPatch.Status == backend.Remove {
			a.near.removed(advertiser, e.campaign)
		}
		if err != nil || e.campaignPatch.Status == backend.Remove {
			return err
		}
	}
	switch e.kind {
	case kindCampaignNegative:
		return a.tx.Negative(ctx, backend.NegativeOwner{Campaign: campaign}, e.negative)
	case kindLocation:
		return a.locate(ctx, e, advertiser)
	}
	return a.removeInGroup(ctx, e, campaign)
}

func (a *applier) removeInGroup(ctx context.Context, e *entry, campaign uint64) error {
	group, err := a.tx.FindGroup(ctx, campaign, e.group)
	if err != nil || group == 0 {
		return err
	}
	if e.patchesGroup {
		_, err := a.applyGroup(ctx, e, campaign)
		if err != nil || e.groupPatch.Status == backend.Remove {
			return err
		}
	}
	switch e.kind {
	case kindKeyword:
		return a.tx.Keyword(ctx, group, e.keyword)
	case kindGroupNegative:
		return a.tx.Negative(ctx, backend.NegativeOwner{Campaign: campaign, Group: group}, e.negative)
	case kindAd:
		return a.tx.Ad(ctx, group, e.ad)
	}
	return nil
}

// applyCampaign writes the row's campaign.
func (a *applier) applyCampaign(ctx context.Context, e *entry, advertiser uint64) (uint64, error) {
	h := &a.campaign
	*h = rowHold{of: a.holds, own: e.kind == kindCampaign, refused: a.holds.isRefused(e, backend.EntityCampaign), pausedBy: e.pausedBy,
		dated: e.campaignPatch.EndDate.Op != backend.Unchanged}
	e.campaignPatch.Hold, e.campaignPatch.Status = h, a.pausedNames.status(e)
	id, err := a.tx.Campaign(ctx, advertiser, e.campaign, e.campaignPatch)
	if err == nil && h.lifts {
		a.holds.lifts[backend.EntityCampaign].Add(id)
	}
	return id, err
}

// applyGroup writes the row's group, whose campaign has been written already.
func (a *applier) applyGroup(ctx context.Context, e *entry, campaign uint64) (uint64, error) {
	h := &a.group
	*h = rowHold{of: a.holds, own: e.kind == kindGroup, refused: a.holds.isRefused(e, backend.EntityGroup), covered: a.campaign.holds}
	if h.own {
		h.pausedBy = e.pausedBy
	}
	e.groupPatch.Hold = h
	id, err := a.tx.Group(ctx, campaign, e.group, e.groupPatch)
	if err == nil && h.lifts {
		a.holds.lifts[backend.EntityGroup].Add(id)
	}
	return id, err
}
