package ingest

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/targeting"
)

// pendingLocations are the locations of the campaigns whose locations rows have changed, until the
// transaction ends or something is removed: a campaign's are one value, and each row changes one of many.
type pendingLocations map[campaignName]*pendingCampaign

type pendingCampaign struct {
	advertiser uint64
	list       map[targeting.Location]uint16 // modifiers, by the location with none
}

// change applies a location row. full: the campaign has as many as it may have.
func (p *pendingLocations) change(ctx context.Context, tx backend.Tx, name campaignName, advertiser uint64, l *locationChange) (full bool, err error) {
	c := (*p)[name]
	if c == nil {
		if c, err = loadLocations(ctx, tx, name, advertiser); err != nil {
			return false, err
		}
		if *p == nil {
			*p = make(pendingLocations)
		}
		(*p)[name] = c
	}
	key := l.Location
	key.Modifier = 0
	now, there := c.list[key]
	switch {
	case l.removes:
		delete(c.list, key)
		return false, nil
	case !there && len(c.list) >= targeting.MaxLocations:
		return true, nil
	case !there:
		now = targeting.Default
	}
	switch l.modifier.Op {
	case backend.Set:
		now = l.modifier.Value
	case backend.Reset:
		now = targeting.Default
	}
	c.list[key] = now
	return false, nil
}

func loadLocations(ctx context.Context, tx backend.Tx, name campaignName, advertiser uint64) (*pendingCampaign, error) {
	text, err := tx.Locations(ctx, advertiser, name.campaign)
	if err != nil {
		return nil, err
	}
	c := &pendingCampaign{advertiser: advertiser, list: make(map[targeting.Location]uint16)}
	if text == "" {
		return c, nil
	}
	list, err := targeting.ParseLocations([]byte(text))
	for _, l := range list {
		key := l
		key.Modifier = 0
		c.list[key] = l.Modifier
	}
	return c, err
}

// flush writes the locations.
func (p *pendingLocations) flush(ctx context.Context, tx backend.Tx) error {
	for name, c := range *p {
		list := make([]targeting.Location, 0, len(c.list))
		for l, modifier := range c.list {
			l.Modifier = modifier
			list = append(list, l)
		}
		sorted, err := targeting.NewLocations(list)
		if err != nil {
			return err
		}
		change := backend.Patch[string]{Op: backend.Reset}
		if text := sorted.JSON(); text != "" {
			change = backend.To(text)
		}
		if _, err := tx.Campaign(ctx, c.advertiser, name.campaign, backend.CampaignPatch{Locations: change}); err != nil {
			return err
		}
	}
	*p = nil
	return nil
}

var errManyLocations = fmt.Errorf("a campaign has at most %d locations", targeting.MaxLocations)
