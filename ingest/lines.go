package ingest

import (
	"adshard/backend"
)

// Owners are the names on the way to an entity; "": there is none.
type Owners struct{ Advertiser, Campaign, Group string }

// The functions below append an entity as a JSON line that, imported, gives it all of its own
// fields; what it holds has lines of its own.

// AppendAdvertiser appends the line of an advertiser.
func AppendAdvertiser(b []byte, a *backend.Advertiser) []byte {
	return appendLine(b, backend.EntityAdvertiser, Owners{}, advertiserFields(a))
}

// AppendCampaign appends the line of a campaign.
func AppendCampaign(b []byte, o Owners, c *backend.Campaign) []byte {
	return appendLine(b, backend.EntityCampaign, o, campaignFields(c))
}

// AppendNegative appends the line of a negative: a campaign's without a group among the owners, an advertiser's
// without a campaign, too.
func AppendNegative(b []byte, o Owners, n *backend.Negative) []byte {
	return appendLine(b, backend.EntityNegative, o, negativeFields(n))
}

// AppendItem appends the lines of a group and of all that it holds.
func AppendItem(b []byte, o Owners, it *backend.Item) []byte {
	b = appendLine(b, backend.EntityGroup, o, groupFields(&it.Group))
	o.Group = it.Group.Name
	for i := range it.Keywords {
		b = appendLine(b, backend.EntityKeyword, o, keywordFields(&it.Keywords[i]))
	}
	for i := range it.Negatives {
		b = AppendNegative(b, o, &it.Negatives[i])
	}
	for i := range it.Ads {
		b = appendLine(b, backend.EntityAd, o, adFields(&it.Ads[i]))
	}
	return b
}

func appendLine(b []byte, of backend.Entity, o Owners, own fieldList) []byte {
	var all fieldList
	all.text(fieldType, of.String())
	for i, name := range []string{o.Advertiser, o.Campaign, o.Group} {
		if name != "" {
			all.text(fieldAdvertiser+jsonField(i), name)
		}
	}
	b = append(b, '{')
	for i, f := range append(all, own...) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, f.Name...)
		b = append(b, '"', ':')
		b = append(b, f.Value...)
	}
	return append(b, '}', '\n')
}
