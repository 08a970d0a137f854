package ingest

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/targeting"
)

// pendingLocations buffers the changed locations of campaigns until the transaction ends or something is removed. All
// locations of a campaign are one value, and each row changes one of them.
type pendingLocations map[campaignName]*pendingCampaign

type pendingCampaign struct {
	advertiser uint64
	list       map[targeting.Location]uint16 // modifiers, by location; the modifier of the key is 0
}

// of returns those of a campaign.
func (p *pendingLocations) of(ctx context.Context, tx backend.Tx, name campaignName, advertiser uint64) (*pendingCampaign, error) {
	if c := (*p)[name]; c != nil {
		return c, nil
	}
	c, err := loadLocations(ctx, tx, name, advertiser)
	if err != nil {
		return nil, err
	}
	if *p == nil {
		*p = make(pendingLocations)
	}
	(*p)[name] = c
	return c, nil
}

// key is a location with no modifier.
func (l *locationChange) key() targeting.Location {
	key := l.Location
	key.Modifier = 0
	return key
}

// roomFor returns errManyLocations if a row would give a campaign more than it may have.
func (p *pendingLocations) roomFor(ctx context.Context, tx backend.Tx, name campaignName, advertiser uint64, l *locationChange) error {
	c, err := p.of(ctx, tx, name, advertiser)
	if err != nil {
		return err
	}
	if _, there := c.list[l.key()]; !there && len(c.list) >= targeting.MaxLocations {
		return errManyLocations
	}
	return nil
}

// change applies a location row for which there is room.
func (p *pendingLocations) change(ctx context.Context, tx backend.Tx, name campaignName, advertiser uint64, l *locationChange) error {
	c, err := p.of(ctx, tx, name, advertiser)
	if err != nil {
		return err
	}
	key := l.key()
	if l.removes {
		delete(c.list, key)
		return nil
	}
	now, there := c.list[key]
	if !there {
		now = targeting.Default
	}
	switch l.modifier.Op {
	case backend.Set:
		now = l.modifier.Value
	case backend.Reset:
		now = targeting.Default
	}
	c.list[key] = now
	return nil
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
