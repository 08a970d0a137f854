package backendtest

import (
	"context"
	"slices"

	"adshard/backend"
)

// Keyword implements backend.Tx.
func (m *Model) Keyword(_ context.Context, group uint64, p backend.KeywordPatch) error {
	it := m.open.Items[group]
	at := slices.IndexFunc(it.Keywords, func(k backend.Keyword) bool { return k.Words == p.Words && k.Type == p.Type })
	if p.Status == backend.Remove {
		if at >= 0 {
			it.Keywords = slices.Delete(it.Keywords, at, at+1)
			m.open.Items[group] = it
		}
		return nil
	}
	if at < 0 {
		m.open.keyword++
		it.Keywords = append(it.Keywords, backend.Keyword{
			ID: m.open.keyword, GroupID: group, Words: p.Words, Type: p.Type, KeywordSettings: backend.NewKeyword(),
		})
		at = len(it.Keywords) - 1
	}
	k := &it.Keywords[at]
	k.Text = p.Text
	k.Enabled = status(k.Enabled, p.Status)
	patched(&k.KeywordSettings, backend.NewKeyword(), p)
	m.open.Items[group] = it
	return nil
}

// Negative implements backend.Tx.
func (m *Model) Negative(_ context.Context, o backend.NegativeOwner, p backend.NegativePatch) error {
	switch {
	case o.Group != 0:
		it := m.open.Items[o.Group]
		it.Negatives = m.negatives(it.Negatives, backend.Negative{CampaignID: it.Group.CampaignID, GroupID: o.Group}, p)
		m.open.Items[o.Group] = it
	case o.Campaign != 0:
		c := m.open.Campaigns[o.Campaign]
		c.Negatives = m.negatives(c.Negatives, backend.Negative{CampaignID: o.Campaign}, p)
		m.open.Campaigns[o.Campaign] = c
	default:
		a := m.open.Advertisers[o.Advertiser]
		a.Negatives = m.negatives(a.Negatives, backend.Negative{AdvertiserID: o.Advertiser}, p)
		m.open.Advertisers[o.Advertiser] = a
	}
	return nil
}

// negatives applies a patch to a list. n is the new negative to add, with its owner set, if the list lacks it.
func (m *Model) negatives(list []backend.Negative, n backend.Negative, p backend.NegativePatch) []backend.Negative {
	at := slices.IndexFunc(list, func(n backend.Negative) bool { return n.Words == p.Words && n.Type == p.Type })
	if p.Status == backend.Remove {
		if at >= 0 {
			list = slices.Delete(list, at, at+1)
		}
		return list
	}
	if at < 0 {
		m.open.negative++
		at = len(list)
		n.ID, n.Words, n.Type, n.Enabled = m.open.negative, p.Words, p.Type, true
		list = append(list, n)
	}
	list[at].Text = p.Text
	list[at].Enabled = status(list[at].Enabled, p.Status)
	return list
}

// Ad implements backend.Tx.
func (m *Model) Ad(_ context.Context, group uint64, p backend.AdPatch) error {
	it := m.open.Items[group]
	at := slices.IndexFunc(it.Ads, func(a backend.Ad) bool {
		return slices.Equal(a.Headlines, p.Headlines) && slices.Equal(a.Descriptions, p.Descriptions) &&
			a.Path1 == p.Path1 && a.Path2 == p.Path2 && a.FinalURL == p.FinalURL
	})
	if p.Status == backend.Remove {
		if at >= 0 {
			it.Ads = slices.Delete(it.Ads, at, at+1)
			m.open.Items[group] = it
		}
		return nil
	}
	if at < 0 {
		m.open.ad++
		at = len(it.Ads)
		it.Ads = append(it.Ads, backend.Ad{
			ID: m.open.ad, GroupID: group, Enabled: true, Headlines: slices.Clone(p.Headlines),
			Descriptions: slices.Clone(p.Descriptions), Path1: p.Path1, Path2: p.Path2, FinalURL: p.FinalURL,
		})
	}
	it.Ads[at].Enabled = status(it.Ads[at].Enabled, p.Status)
	m.open.Items[group] = it
	return nil
}
