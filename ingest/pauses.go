package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"adshard/backend"
	"adshard/ingest/rejected"
	"adshard/ingest/values"
)

// What restricts and is rejected, pauses (serving.md §13): a campaign must not be served more widely than a file says, since a
// part of the file could not be read.

// restrictingColumns are those whose cells restrict the row's campaign.
var restrictingColumns = [...]column{colStartDate, colEndDate, colSchedule, colLocationPresence, colExclusionPresence, colLanguages, colTimeZone}

// pausedByReject is why a campaign is paused when a row or line that restricts it was
// rejected.
const pausedByReject = "rejected_restriction"

// shutsCampaign notes of a rejected row whether it pauses its campaign.
func (s *editorSource) shutsCampaign(e *entry) {
	switch e.reject.Column {
	case colAccount.String(), colAccountName.String(), colCampaign.String():
		return
	}
	advertiser, campaign := s.accountAsRead(), s.shared(colCampaign)
	if advertiser == "" || campaign == "" || values.CheckName(advertiser) != nil || values.CheckName(campaign) != nil || accountLevel(campaign) || s.noData() != "" {
		return
	}
	of := s.row.filled(colKeyword) || s.row.filled(colAdType) || s.row.anyHeadline()
	restricts := e.kind == kindLocation || !of && !s.row.filled(colAdGroup) && s.otherKindOf() == "" && s.location
	for _, c := range restrictingColumns {
		restricts = restricts || s.row.filled(c) && (!of || e.reject.Column == c.String())
	}
	if restricts {
		e.pausing, e.advertiser, e.campaign = true, advertiser, campaign
	}
}

// restrictingFields are those whose presence in a rejected line pauses.
var restrictingFields = []jsonField{fieldLanguages, fieldStartDate, fieldEndDate, fieldSchedule, fieldLocations, fieldLocationPresence,
	fieldExclusionPresence, fieldAudiences, fieldSites, fieldCategories}

// shutsCampaign notes of a rejected line whether it pauses its campaign, or those of its advertiser.
func (s *jsonSource) shutsCampaign(e *entry, line []byte) {
	if values.CheckName(e.advertiser) != nil || e.advertiser == "" || e.kind > kindGroup || e.kind != kindAdvertiser && (e.campaign == "" || values.CheckName(e.campaign) != nil) {
		return
	}
	names := fieldsOf(line)
	if e.kind == kindAdvertiser {
		e.pausing = slices.Contains(names, fieldCategories.String()) || slices.Contains(names, fieldTimeZone.String())
		return
	}
	e.pausing = slices.ContainsFunc(names, func(name string) bool {
		i := slices.Index(fieldNames[:], name)
		return i < 0 || slices.Contains(restrictingFields, jsonField(i))
	})
}

// fieldsOf names the fields of a line, up to where it can be read.
func fieldsOf(line []byte) (names []string) {
	dec := json.NewDecoder(bytes.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		names = append(names, name.(string))
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
	}
	return names
}

// shut pauses the campaign of a rejected row to the end of the import, or those of the advertiser of a rejected line that were there
// before the import.
func (w *writer) shut(ctx context.Context, e *entry) error {
	if w.applier == nil {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	a := w.applier
	if err := a.flush(ctx); err != nil {
		return err
	}
	defer func() { a.last, a.campaign = parents{}, rowHold{} }()
	if e.kind != kindAdvertiser {
		advertiser, err := a.tx.Advertiser(ctx, e.advertiser)
		if err != nil {
			return err
		}
		return w.shutCampaign(ctx, advertiser, e.advertiser, e.campaign)
	}
	advertiser, err := a.tx.FindAdvertiser(ctx, e.advertiser)
	if err != nil || advertiser == 0 {
		return err
	}
	names, err := a.tx.Names(ctx, advertiser, maxPausedTogether)
	if err != nil {
		return err
	}
	for _, name := range names {
		made, err := a.madeCampaign(ctx, advertiser, name)
		if err != nil {
			return err
		}
		if made {
			continue
		}
		if err := w.shutCampaign(ctx, advertiser, e.advertiser, name); err != nil {
			return err
		}
	}
	return nil
}

// madeCampaign reports whether the import made a campaign: it holds it until its end.
func (a *applier) madeCampaign(ctx context.Context, advertiser uint64, name string) (made bool, err error) {
	id, err := a.tx.FindCampaign(ctx, advertiser, name)
	if err != nil || id == 0 {
		return false, err
	}
	_, err = a.tx.Held(ctx, backend.HeldQuery{ID: id}, 0, 1, func(h backend.Held) backend.Hold {
		made = h.Hold.Import() == a.holds.number
		return h.Hold
	})
	return made, err
}

// maxPausedTogether is more than the campaigns that an advertiser has.
const maxPausedTogether = 1 << 30

func (w *writer) shutCampaign(ctx context.Context, id uint64, advertiser, campaign string) error {
	w.run.paused.add(campaignName{advertiser, campaign})
	e := &entry{advertiser: advertiser, campaign: campaign, kind: kindLocation}
	_, err := w.applier.applyCampaign(ctx, e, id)
	return err
}

// pausedNames are campaigns that are paused to the end of the import.
type pausedNames struct {
	names map[campaignName]struct{}
	order []campaignName
}

func (p *pausedNames) add(name campaignName) {
	if p.names == nil {
		p.names = make(map[campaignName]struct{})
	}
	if _, ok := p.names[name]; !ok {
		p.names[name] = struct{}{}
		p.order = append(p.order, name)
	}
}

// status is the one that a row gives to its campaign.
func (p *pausedNames) status(e *entry) backend.Status {
	if _, ok := p.names[campaignName{e.advertiser, e.campaign}]; ok && e.campaignPatch.Status != backend.Remove {
		return backend.Pause
	}
	return e.campaignPatch.Status
}

// tell is what the summary says of them.
func (p *pausedNames) tell() (list []Shut) {
	if p.order == nil {
		return nil
	}
	s := Shut{Why: pausedByReject, Count: int64(len(p.order))}
	for _, name := range p.order[:min(len(p.order), rejected.Listed)] {
		s.First = append(s.First, ShutEntity{Advertiser: name.advertiser, Campaign: name.campaign})
	}
	return []Shut{s}
}
