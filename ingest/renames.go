package ingest

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/ingest/rejected"
)

// rename gives the row's campaign and group their present names if they exist only under their former names
// (serving.md §7, "Renames"). It returns the reject if the row is rejected, or nil.
func (w *writer) rename(ctx context.Context, e *entry) (*rejected.Row, error) {
	tx := w.applier.tx
	advertiser, err := tx.FindAdvertiser(ctx, e.advertiser)
	if err != nil || advertiser == 0 {
		return nil, err
	}
	campaign := renaming{entity: backend.EntityCampaign, owner: advertiser, from: e.extras.originals[0], to: e.campaign, find: tx.FindCampaign}
	if err := campaign.look(ctx); err != nil || campaign.both() {
		return w.bothThere(e, colCampaignOriginal, &campaign), err
	}
	group := renaming{entity: backend.EntityGroup, owner: max(campaign.old, campaign.new), from: e.extras.originals[1], to: e.group, find: tx.FindGroup}
	if group.owner != 0 {
		if err := group.look(ctx); err != nil || group.both() {
			return w.bothThere(e, colAdGroupOriginal, &group), err
		}
	}
	for _, r := range []*renaming{&campaign, &group} {
		if r.old == 0 {
			continue
		}
		if err := w.applier.flush(ctx); err != nil { // what waits for the former name
			return nil, err
		}
		if _, err := tx.Rename(ctx, r.entity, r.owner, r.from, r.to); err != nil {
			return nil, err
		}
		w.applier.last = parents{}
		done := Renamed{Advertiser: e.advertiser, Campaign: e.campaign, From: r.from}
		if r.entity == backend.EntityGroup {
			done.Group = e.group
		} else {
			w.run.near.removed(advertiser, r.from)
			w.run.paused.renamed(campaignName{e.advertiser, r.from}, campaignName{e.advertiser, r.to})
		}
		if w.open.renamed++; len(w.run.sum.FirstRenamed)+len(w.open.firstRenamed) < rejected.Listed {
			w.open.firstRenamed = append(w.open.firstRenamed, done)
		}
	}
	return nil, nil
}

// bothThere returns the reject of a row whose old and new name both exist, or nil if they do not.
func (w *writer) bothThere(e *entry, c column, r *renaming) *rejected.Row {
	if !r.both() {
		return nil
	}
	why := fmt.Sprintf("both %s and %s are there, so that neither can get the other's name: remove one, or empty this cell", rejected.Quote(r.from), rejected.Quote(r.to))
	return &rejected.Row{File: w.in.Name, Record: e.record, Column: c.String(), Reason: why}
}

// renaming is the change of an entity's name from one to another.
type renaming struct {
	entity   backend.Entity
	owner    uint64
	from, to string
	find     func(ctx context.Context, owner uint64, name string) (uint64, error)
	old, new uint64 // ids
}

// look sets the ids of the old and new name. The old name is looked up only if it differs from the new one.
func (r *renaming) look(ctx context.Context) (err error) {
	if r.to == "" {
		return nil
	}
	if r.new, err = r.find(ctx, r.owner, r.to); err == nil && r.from != "" && r.from != r.to {
		r.old, err = r.find(ctx, r.owner, r.from)
	}
	return err
}

func (r *renaming) both() bool { return r.old != 0 && r.new != 0 }
