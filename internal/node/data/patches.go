package data

import (
	"adshard/backend"
	"adshard/ingest"
)

// patches makes the patches by which an operation changes an existing entity. The entity is named by
// its content.
type patches struct {
	ingest.Settings
	status backend.Status // Remove, or Keep for the status in the settings
}

func (p *patches) or(s backend.Status) backend.Status {
	if p.status != backend.Keep {
		return p.status
	}
	return s
}

func (p *patches) advertiser() backend.AdvertiserPatch {
	out := p.Advertiser
	out.Status = p.or(out.Status)
	return out
}

func (p *patches) campaign() backend.CampaignPatch {
	out := p.Campaign
	out.Status = p.or(out.Status)
	return out
}

func (p *patches) group() backend.GroupPatch {
	out := p.Group
	out.Status = p.or(out.Status)
	return out
}

func (p *patches) keyword(k *backend.Keyword) backend.KeywordPatch {
	out := p.Keyword
	out.Text, out.Words, out.Type, out.Status = k.Text, k.Words, k.Type, p.or(out.Status)
	return out
}

func (p *patches) negative(n *backend.Negative) backend.NegativePatch {
	return backend.NegativePatch{Text: n.Text, Words: n.Words, Type: n.Type, Status: p.or(p.Negative.Status)}
}

func (p *patches) ad(a *backend.Ad) backend.AdPatch {
	return backend.AdPatch{Headlines: a.Headlines, Descriptions: a.Descriptions, Path1: a.Path1, Path2: a.Path2, FinalURL: a.FinalURL,
		Status: p.or(p.Ad.Status)}
}
