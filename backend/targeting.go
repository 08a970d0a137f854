package backend

import (
	"fmt"

	"adshard/fault"
	"adshard/targeting"
)

// Targeting parses the campaign's settings of where and when it is shown. It returns fault.Corrupt if they are wrong, since they
// were checked when they were written.
func (v *CampaignSettings) Targeting() (*targeting.Targeting, error) {
	t := &targeting.Targeting{Languages: v.Languages.Codes(), Targets: method(v.LocationPresence), Exclusion: method(v.ExclusionPresence)}
	var r reader
	t.Start, t.End = r.date(v.StartDate), r.date(v.EndDate)
	read(&r, &t.Schedule, v.Schedule, targeting.ParseSchedule)
	read(&r, &t.Locations, v.Locations, targeting.ParseLocations)
	read(&r, &t.Audiences, v.Audiences, targeting.ParseAudiences)
	read(&r, &t.Sites, v.Sites, targeting.ParseSites)
	read(&r, &t.Categories, v.Categories, targeting.ParseCategories)
	return t, r.err
}

// Targeting parses the audiences and sites of the group. It returns the same errors as that of CampaignSettings.
func (v *GroupSettings) Targeting() (*targeting.Targeting, error) {
	t := new(targeting.Targeting)
	var r reader
	read(&r, &t.Audiences, v.Audiences, targeting.ParseAudiences)
	read(&r, &t.Sites, v.Sites, targeting.ParseSites)
	return t, r.err
}

// CategoryPaths parses the advertiser's categories. It returns the same errors as Targeting.
func (v *AdvertiserSettings) CategoryPaths() (list targeting.Categories, err error) {
	var r reader
	read(&r, &list, v.Categories, targeting.ParseCategories)
	return list, r.err
}

func method(presence bool) targeting.Method {
	if presence {
		return targeting.Presence
	}
	return targeting.PresenceOrInterest
}

// reader keeps the first error.
type reader struct{ err error }

func (r *reader) note(err error) {
	if err != nil && r.err == nil {
		r.err = fault.New(fault.Corrupt, "read targeting", err)
	}
}

func (r *reader) date(text string) targeting.Date {
	if text == "" {
		return 0
	}
	d, ok := targeting.ParseDate(text)
	if !ok {
		r.note(fmt.Errorf("%q is not a date", text))
	}
	return d
}

func read[T any](r *reader, to *T, text string, parse func([]byte) (T, error)) {
	if text == "" {
		return
	}
	var err error
	*to, err = parse([]byte(text))
	r.note(err)
}
