package ingest

import (
	"errors"
	"fmt"
	"slices"

	"adshard/backend"
	"adshard/fault"
)

// Settings are an entity's own fields, checked as those of a JSON line are: its name or
// content, and the changes of the rest. Only those of its kind are filled.
type Settings struct {
	Name       string // of an advertiser, campaign or group
	Advertiser backend.AdvertiserPatch
	Campaign   backend.CampaignPatch
	Group      backend.GroupPatch
	Keyword    backend.KeywordPatch
	Negative   backend.NegativePatch
	Ad         backend.AdPatch
}

// ParseSettings reads a JSON object with the fields that a JSON line of the kind has, without
// type and the names of owners. Errors: fault.Invalid with the field at fault.
func ParseSettings(of backend.Entity, object []byte) (*Settings, error) {
	const op = "ingest: read settings"
	var s jsonSource
	if column, err := s.line.parse(object); err != nil {
		if column != "" {
			err = fmt.Errorf("%s: %w", column, err)
		}
		return nil, fault.Field(op, column, "%w", err)
	}
	t := &entityTypes[of]
	own := *t
	own.fields = slices.DeleteFunc(slices.Clone(t.fields), func(f jsonField) bool { return f < fieldName })
	s.checkFields(&own)
	if s.line.values[fieldType].form != formAbsent {
		s.note(fieldType, errors.New("no field here"))
	}
	e := entry{kind: t.kind}
	s.entity(&e)
	if s.err != nil {
		return nil, fault.Field(op, s.fault.String(), "%s: %s", s.fault, found(reason(s.err), s.line.values[s.fault].value()))
	}
	out := &Settings{Advertiser: e.advertiserPatch, Campaign: e.campaignPatch, Group: e.groupPatch,
		Keyword: e.keyword, Negative: e.negative, Ad: e.ad}
	if of == backend.EntityCampaign || of == backend.EntityGroup {
		change := &settingsHold{pausedBy: e.pausedBy, enables: max(e.campaignPatch.Status, e.groupPatch.Status) == backend.Enable}
		out.Campaign.Hold, out.Group.Hold = change, change
	}
	out.Name = []string{e.advertiser, e.campaign, e.group}[min(of, backend.EntityGroup)]
	return out, nil
}

// Status is the change of the entity's status.
func (s *Settings) Status(of backend.Entity) backend.Status {
	return []backend.Status{s.Advertiser.Status, s.Campaign.Status, s.Group.Status, s.Keyword.Status, s.Negative.Status, s.Ad.Status}[of]
}

// KeyFields are the fields by which an entity is known among those of its owner: nobody changes
// them.
func KeyFields(of backend.Entity) []string {
	return [backend.Entities][]string{
		{"name"}, {"name"}, {"name"}, {"text", "match_type"}, {"text", "match_type"},
		{"headlines", "descriptions", "path_1", "path_2", "final_url"},
	}[of]
}
