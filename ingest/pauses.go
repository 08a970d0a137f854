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

// A rejected row that restricts its campaign pauses it (serving.md §13): a campaign must not be served more widely than a file
// says because a part of the file could not be read.

// restrictingColumns are the columns whose cells restrict the row's campaign.
var restrictingColumns = [...]column{colStartDate, colEndDate, colSchedule, colLocationPresence, colExclusionPresence, colLanguages, colTimeZone}

// placeColumns are those that name a place or circle.
var placeColumns = [...]column{colLocation, colPlaceID, colRadius}

// pausedByReject is why a campaign is paused when a row or line that restricts it was
// rejected.
const pausedByReject = "rejected_restriction"

// shutsCampaign sets e.pausing if the rejected row pauses its campaign.
func (s *editorSource) shutsCampaign(e *entry) {
	switch e.reject.Column {
	case colAccount.String(), colAccountName.String(), colCampaign.String():
		return
	}
	advertiser, campaign := s.accountAsRead(), s.shared(colCampaign)
	if isName(advertiser) && isName(campaign) && !accountLevel(campaign) && s.noData() == "" && s.restrictsAt(e, e.reject.Column) {
		e.pausing, e.advertiser, e.campaign = true, advertiser, campaign
		if original := string(s.row.cell(colCampaignOriginal)); isName(original) {
			e.original = original
		}
	}
}

// isName reports whether a database can keep a name, and a row can mean it.
func isName(name string) bool {
	return name != "" && name != "[]" && values.CheckName(name) == nil && values.CheckText([]byte(name)) == nil
}

// restrictsAt reports whether the row restricts its campaign if it is rejected at a column.
func (s *editorSource) restrictsAt(e *entry, at string) bool {
	of := s.row.filled(colKeyword) || s.row.filled(colAdType) || s.row.anyHeadline()
	if e.kind == kindLocation || !of && !s.row.filled(colAdGroup) && s.otherKindOf() == "" && s.location {
		return true
	}
	return slices.ContainsFunc(restrictingColumns[:], func(c column) bool { return s.row.filled(c) && (!of || at == c.String()) })
}

// mayBeRenamed notes of a row with former names what is needed if these are why the database rejects it (writer.rename).
func (s *editorSource) mayBeRenamed(e *entry) {
	if e.reject == nil && e.extras != nil && e.extras.originals != [2]string{} {
		e.restricts, e.original = s.restrictsAt(e, colCampaignOriginal.String()), e.extras.originals[0]
	}
}

// restrictingFields are the fields that pause the campaign of a rejected line that has them.
var restrictingFields = []jsonField{fieldLanguages, fieldStartDate, fieldEndDate, fieldSchedule, fieldLocations, fieldLocationPresence,
	fieldExclusionPresence, fieldAudiences, fieldSites, fieldCategories}

// shutsCampaign sets e.pausing if the rejected line pauses its campaign, or the campaigns of its advertiser.
func (s *jsonSource) shutsCampaign(e *entry, line []byte) {
	if e.kind > kindGroup || !isName(e.advertiser) || e.kind != kindAdvertiser && !isName(e.campaign) {
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

// fieldsOf returns the names of a line's fields, as far as the line can be read.
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

// shut pauses the campaign of a rejected row until the end of the import. For a rejected line of an advertiser it pauses the
// advertiser's campaigns that existed before the import.
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
		return w.shutNamed(ctx, e, advertiser)
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
		if err := w.shutCampaign(ctx, advertiser, campaignName{e.advertiser, name}); err != nil {
			return err
		}
	}
	return nil
}

// shutNamed pauses the campaign of a rejected row. If the row has a former name, it pauses the campaigns of both names as far as they
// exist. A campaign of the row's own name is made only if neither exists.
func (w *writer) shutNamed(ctx context.Context, e *entry, advertiser uint64) error {
	former := e.original != "" && e.original != e.campaign
	if former {
		id, err := w.applier.tx.FindCampaign(ctx, advertiser, e.original)
		if err != nil {
			return err
		}
		former = id != 0
	}
	if former {
		now, err := w.applier.tx.FindCampaign(ctx, advertiser, e.campaign)
		if err != nil {
			return err
		}
		if err := w.shutCampaign(ctx, advertiser, campaignName{e.advertiser, e.original}); err != nil || now == 0 {
			return err
		}
	}
	return w.shutCampaign(ctx, advertiser, campaignName{e.advertiser, e.campaign})
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

// maxPausedTogether is more than an advertiser's number of campaigns.
const maxPausedTogether = 1 << 30

func (w *writer) shutCampaign(ctx context.Context, advertiser uint64, name campaignName) error {
	w.run.paused.add(name)
	e := &entry{advertiser: name.advertiser, campaign: name.campaign, kind: kindLocation}
	_, err := w.applier.applyCampaign(ctx, e, advertiser)
	return err
}

// pausedNames holds the campaigns that are paused until the end of the import.
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

// renamed keeps a paused campaign paused under another name. The former name is no longer reported; another campaign that gets it is
// paused too.
func (p *pausedNames) renamed(from, to campaignName) {
	i := slices.Index(p.order, from)
	if i < 0 {
		return
	}
	if _, ok := p.names[to]; ok {
		p.order = slices.Delete(p.order, i, i+1)
		return
	}
	p.names[to] = struct{}{}
	p.order[i] = to
}

// status is the one that a row gives to its campaign.
func (p *pausedNames) status(e *entry) backend.Status {
	if _, ok := p.names[campaignName{e.advertiser, e.campaign}]; ok && e.campaignPatch.Status != backend.Remove {
		return backend.Pause
	}
	return e.campaignPatch.Status
}

// tell returns what the summary says about these campaigns.
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
