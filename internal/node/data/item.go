package data

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"adshard/backend"
	"adshard/internal/node/httpapi/api"
	"adshard/quality"
)

// Key names an entity. Entities within a group, campaign or advertiser are found through their owner.
type Key struct {
	Type backend.Entity
	ID   uint64
	// One of Advertiser, Campaign and Group is the owner of a negative. Group is the owner of a keyword or ad.
	Advertiser, Campaign, Group uint64
}

// String returns the name of the entity for messages.
func (k Key) String() string {
	switch {
	case k.Group != 0:
		return fmt.Sprintf("%v %d of group %d", k.Type, k.ID, k.Group)
	case k.Campaign != 0:
		return fmt.Sprintf("%v %d of campaign %d", k.Type, k.ID, k.Campaign)
	case k.Advertiser != 0:
		return fmt.Sprintf("%v %d of advertiser %d", k.Type, k.ID, k.Advertiser)
	}
	return fmt.Sprintf("%v %d", k.Type, k.ID)
}

// row returns the advertiser, campaign or group that the key names, or that holds the entity.
func (k Key) row() row {
	switch {
	case k.Group != 0:
		return row{backend.KindGroup, k.Group}
	case k.Campaign != 0:
		return row{backend.KindCampaign, k.Campaign}
	case k.Advertiser != 0:
		return row{backend.KindAdvertiser, k.Advertiser}
	}
	return row{kindOf[k.Type], k.ID}
}

// row is an advertiser, campaign or group.
type row struct {
	kind backend.Kind
	id   uint64
}

var kindOf = map[backend.Entity]backend.Kind{
	backend.EntityAdvertiser: backend.KindAdvertiser, backend.EntityCampaign: backend.KindCampaign, backend.EntityGroup: backend.KindGroup,
}

func status(enabled bool) api.ItemStatus {
	if enabled {
		return api.ItemStatusEnabled
	}
	return api.ItemStatusPaused
}

func pausedBy(h backend.Hold) (list []api.PausedBy) {
	for _, name := range h.Reasons() {
		list = append(list, api.PausedBy(name))
	}
	return list
}

func optional(has bool, n uint64) *uint64 {
	if !has {
		return nil
	}
	return &n
}

func oneOf(is bool, on, off string) string {
	if is {
		return on
	}
	return off
}

// value returns a text that is stored as JSON, or nil if it is empty.
func value(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func modifier(m backend.Modifier) *float64 {
	if !m.Set {
		return nil
	}
	percent := (float64(m.Permille) - 1000) / 10
	return &percent
}

func advertiserItem(a *backend.Advertiser) *api.Item {
	it := &api.Item{Type: api.ItemTypeAdvertiser, ID: a.ID, Version: a.Version, Name: a.Name}
	advertiserSettings(it, &a.AdvertiserSettings)
	return it
}

// addSpend adds today's spend to campaigns, if it is known.
func (s *Service) addSpend(ctx context.Context, n *state, items []api.Item) {
	if s.spent == nil {
		return
	}
	var list []*backend.Campaign
	for i := range items {
		if c := n.campaigns[items[i].ID]; c != nil && items[i].Type == api.ItemTypeCampaign {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return
	}
	today := s.spent(ctx, n.Snapshot, list)
	for i := range items {
		if micros, ok := today[items[i].ID]; ok && items[i].Type == api.ItemTypeCampaign {
			items[i].SpentMicros = &micros
		}
	}
}

func campaignItem(c *backend.Campaign) *api.Item {
	it := &api.Item{Type: api.ItemTypeCampaign, ID: c.ID, AdvertiserID: c.AdvertiserID, Version: c.Version, Name: c.Name, BudgetExhausted: c.Exhausted()}
	campaignSettings(it, &c.CampaignSettings)
	return it
}

func groupItem(g *backend.Group) *api.Item {
	it := &api.Item{Type: api.ItemTypeGroup, ID: g.ID, AdvertiserID: g.AdvertiserID, CampaignID: g.CampaignID, Version: g.Version, Name: g.Name}
	groupSettings(it, &g.GroupSettings)
	return it
}

func keywordItem(k *backend.Keyword, version uint64) *api.Item {
	it := &api.Item{Type: api.ItemTypeKeyword, ID: k.ID, GroupID: k.GroupID, Version: version, Text: k.Text, MatchType: api.MatchType(k.Type.String()),
		Learned: learned(k.Learned)}
	keywordSettings(it, &k.KeywordSettings)
	return it
}

// learned describes what was learned about a keyword. It returns nil if nothing was.
func learned(l backend.Learned) *api.LearnedScore {
	if l == 0 {
		return nil
	}
	level := quality.Level(min(l.Level(), uint8(quality.LevelAd)))
	return &api.LearnedScore{Quality: l.Quality(), Level: api.LearnedScoreLevel(level.String()), Impressions: l.Impressions(), Clicks: l.Clicks()}
}

func negativeItem(n *backend.Negative, key Key, version uint64) *api.Item {
	return &api.Item{Type: api.ItemTypeNegative, ID: n.ID, AdvertiserID: key.Advertiser, CampaignID: key.Campaign, GroupID: key.Group, Version: version, Text: n.Text,
		MatchType: api.MatchType(n.Type.String()), Status: status(n.Enabled)}
}

func adItem(a *backend.Ad, version uint64) *api.Item {
	return &api.Item{Type: api.ItemTypeAd, ID: a.ID, GroupID: a.GroupID, Version: version, Headlines: a.Headlines, Descriptions: a.Descriptions,
		Path1: a.Path1, Path2: a.Path2, FinalURL: a.FinalURL, Status: status(a.Enabled)}
}

// tag sets the ETag of an item: a hash of the database's id and of the item's fields, so that neither another
// database nor a database restored to another state has the same one. The hash covers the version of an
// advertiser or a group, and with a group's version all that the group holds. It leaves out the version for
// entities within a group, since changes of others in the group would change it, and for a campaign, where
// budget marks would. `held` adds the campaign's negatives.
func tag(database string, it *api.Item, held any) {
	bare := *it
	bare.Etag, bare.BudgetExhausted, bare.Learned = "", false, nil
	if it.Type != api.ItemTypeAdvertiser && it.Type != api.ItemTypeGroup {
		bare.Version = 0
	}
	text, _ := json.Marshal([]any{database, bare, held}) // a list of texts and numbers can always be encoded
	it.Etag = fmt.Sprintf(`"%016x"`, xxhash.Sum64(text))
}
