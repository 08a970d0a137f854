package ingest

import (
	_ "embed"
	"errors"
	"fmt"
	"io"

	"adshard/backend"
	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
	"adshard/ingest/values"
	"adshard/search"
	"adshard/search/words"
)

// maxLine bounds a line in bytes, but for one of a block list: the largest campaign, with 10,000 circles and 1,000 sites, fits.
const maxLine = 4 << 20

var errLongLine = fmt.Errorf("a line of more than %d bytes", maxLine)

// jsonSource reads JSON lines: one entity a line, as schema.json says.
type jsonSource struct {
	file       string
	lines      *textfile.Reader
	advertiser string // for lines without the field advertiser
	words      words.Analyser
	line       jsonLine
	zones      values.Zones
	places     *placeBook // nil if places are not checked
	identity   identity
	fault      jsonField
	err        error
}

func newJSONSource(src io.Reader, file, advertiser string) (*jsonSource, error) {
	utf, err := textfile.Decode(src)
	if err != nil {
		return nil, err
	}
	return &jsonSource{file: file, lines: textfile.NewLineReader(utf, maxListLine), advertiser: advertiser}, nil
}

func (s *jsonSource) position() (record, line int64) { return s.lines.Record, s.lines.Line }

func (s *jsonSource) column(e *entry, of kind) string {
	switch of {
	case e.kind:
		return fieldName.String()
	case kindAdvertiser:
		return fieldAdvertiser.String()
	}
	return fieldCampaign.String()
}

func (s *jsonSource) next(e *entry) error {
	*e = entry{}
	for {
		raw, err := s.lines.Raw()
		e.record = s.lines.Record
		switch {
		case errors.Is(err, textfile.ErrTooLong):
			e.reject = &rejected.Row{File: s.file, Record: e.record, Reason: err.Error()}
			return nil
		case err != nil:
			return err
		case len(raw) == 0:
			continue // an empty line
		}
		list := isList(raw)
		if len(raw) > maxLine && !list {
			e.reject = &rejected.Row{File: s.file, Record: e.record, Reason: errLongLine.Error()}
			s.guessOwners(e, raw)
			s.shutsCampaign(e, raw)
			return nil
		}
		s.identity.add(raw)
		if list {
			s.list(e, raw)
			return nil
		}
		if column, err := s.line.parse(raw); err != nil {
			why := err.Error()
			if column == "" {
				why = rejected.Found(why, string(raw))
			}
			e.reject = &rejected.Row{File: s.file, Record: e.record, Column: column, Reason: why}
			s.guessOwners(e, raw)
			s.shutsCampaign(e, raw)
			return nil
		}
		s.read(e)
		if e.reject != nil {
			s.shutsCampaign(e, raw)
		}
		return nil
	}
}

func (*jsonSource) tell() tale { return tale{} }

// read checks the line's fields and fills e.
func (s *jsonSource) read(e *entry) {
	s.err = nil
	of, ok := s.entityType()
	if !ok {
		s.reject(e)
		return
	}
	t := &entityTypes[of]
	s.checkFields(of, t.owners)
	e.kind = t.kind
	e.advertiser = s.owner(fieldAdvertiser, t, s.advertiser)
	e.campaign = s.owner(fieldCampaign, t, "")
	e.group = s.owner(fieldGroup, t, "")
	s.entity(e)
	s.reject(e)
}

func (s *jsonSource) reject(e *entry) {
	if s.err != nil {
		e.reject = &rejected.Row{File: s.file, Record: e.record, Column: s.fault.String(),
			Reason: rejected.Found(reason(s.err), s.line.values[s.fault].value())}
	}
}

// entity reads the fields of the entity that the line is about.
func (s *jsonSource) entity(e *entry) {
	switch e.kind {
	case kindAdvertiser:
		e.advertiser = s.name(fieldName)
		s.advertiserSettings(&e.advertiserPatch)
	case kindCampaign:
		e.campaign = s.name(fieldName)
		s.campaignSettings(&e.campaignPatch)
		e.patchesCampaign, e.pausedBy = true, s.pausedBy()
		if p := e.campaignPatch.Locations; p.Op == backend.Set && s.places != nil {
			var err error
			e.inactive, err = s.places.checkAll(p.Value)
			s.note(fieldLocations, err)
		}
	case kindGroup:
		e.group = s.name(fieldName)
		s.groupSettings(&e.groupPatch)
		e.patchesGroup, e.pausedBy = true, s.pausedBy()
	case kindKeyword:
		text, joined, t := s.keyword()
		e.keyword = backend.KeywordPatch{Text: text, Words: joined, Type: t}
		s.keywordSettings(&e.keyword)
	case kindGroupNegative:
		switch {
		case e.campaign == "" && e.group == "":
			e.kind = kindAdvertiserNegative
		case e.group == "":
			e.kind = kindCampaignNegative
		case e.campaign == "":
			s.note(fieldCampaign, errFieldMissing)
		}
		text, joined, t := s.keyword()
		e.negative = backend.NegativePatch{Text: text, Words: joined, Type: t, Status: s.status()}
	case kindAd:
		e.ad = backend.AdPatch{Headlines: s.texts(fieldHeadlines, maxHeadlines),
			Descriptions: s.texts(fieldDescriptions, maxDescriptions), Path1: s.text(fieldPath1),
			Path2: s.text(fieldPath2), FinalURL: s.text(fieldFinalURL), Status: s.status()}
		s.note(fieldFinalURL, checkAdURL(&e.ad))
		if s.err == nil {
			s.note(fieldHeadlines, checkHeadlines(&e.ad))
		}
	}
}

// keyword reads the text and match type of a keyword or negative.
func (s *jsonSource) keyword() (text, joined string, t search.MatchType) {
	text = s.required(fieldText)
	if text != "" {
		var err error
		joined, err = joinWords(&s.words, text)
		s.note(fieldText, err)
	}
	if name := s.required(fieldMatchType); name != "" {
		var err error
		if t, err = values.ParseMatchType(name); err != nil {
			s.note(fieldMatchType, errMatchType)
		}
	}
	return text, joined, t
}

var errMatchType = errors.New("unknown match type: broad, phrase or exact")

// Owners are the names of an entity's owners, each "" if there is none.
type Owners struct{ Advertiser, Campaign, Group string }

// The functions below append an entity as a JSON line. Importing the line gives the entity all of its own fields.
// What the entity holds has lines of its own.

// AppendAdvertiser appends the line of an advertiser.
func AppendAdvertiser(b []byte, a *backend.Advertiser) []byte {
	return appendLine(b, backend.EntityAdvertiser, Owners{}, advertiserFields(a))
}

// AppendCampaign appends the line of a campaign.
func AppendCampaign(b []byte, o Owners, c *backend.Campaign) []byte {
	return appendLine(b, backend.EntityCampaign, o, campaignFields(c))
}

// AppendNegative appends the line of a negative. The owners of a campaign's negative have no group; those of an
// advertiser's negative have neither group nor campaign.
func AppendNegative(b []byte, o Owners, n *backend.Negative) []byte {
	return appendLine(b, backend.EntityNegative, o, negativeFields(n))
}

// AppendItem appends the lines of a group and of everything that it holds.
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

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of a JSON line.
func Schema() string { return schema }
