package ingest

import (
	"errors"
	"fmt"
	"slices"

	"adshard/backend"
	"adshard/search"
)

// jsonField is a field of a JSON line. Faults are looked for in this order.
type jsonField uint8

const (
	fieldType jsonField = iota
	fieldAdvertiser
	fieldCampaign
	fieldGroup
	fieldName
	fieldText
	fieldMatchType
	fieldMaxCPC
	fieldQuality
	fieldDesktop
	fieldMobile
	fieldTablet
	fieldBudget
	fieldDelivery
	fieldLanguages
	fieldRotation
	fieldTimeZone
	fieldHeadlines
	fieldDescriptions
	fieldPath1
	fieldPath2
	fieldFinalURL
	fieldPausedBy
	fieldStatus
	fields
)

var fieldNames = [fields]string{
	"type", "advertiser", "campaign", "group", "name", "text", "match_type", "max_cpc_micros", "quality_score",
	"desktop_bid_modifier", "mobile_bid_modifier", "tablet_bid_modifier", "daily_budget_micros", "delivery_method", "languages",
	"ad_rotation", "time_zone", "headlines", "descriptions", "path_1", "path_2", "final_url", "paused_by", "status",
}

// String returns the field's name in a line.
func (f jsonField) String() string { return fieldNames[f] }

// entityType lists the fields allowed for a value of the field type.
type entityType struct {
	name   string
	kind   kind
	fields []jsonField // allowed, besides type and status
	path   []jsonField // of these, the owners that must be named
}

var entityTypes = []entityType{
	{name: "advertiser", kind: kindAdvertiser, fields: []jsonField{fieldName, fieldTimeZone}},
	{name: "campaign", kind: kindCampaign, path: []jsonField{fieldAdvertiser},
		fields: []jsonField{fieldAdvertiser, fieldName, fieldDesktop, fieldMobile, fieldTablet, fieldBudget, fieldDelivery, fieldLanguages, fieldRotation,
			fieldPausedBy}},
	{name: "group", kind: kindGroup, path: []jsonField{fieldAdvertiser, fieldCampaign},
		fields: []jsonField{fieldAdvertiser, fieldCampaign, fieldName, fieldMaxCPC, fieldDesktop, fieldMobile, fieldTablet, fieldPausedBy}},
	{name: "keyword", kind: kindKeyword, path: []jsonField{fieldAdvertiser, fieldCampaign, fieldGroup},
		fields: []jsonField{fieldAdvertiser, fieldCampaign, fieldGroup, fieldText, fieldMatchType, fieldMaxCPC, fieldQuality}},
	{name: "negative", kind: kindGroupNegative, path: []jsonField{fieldAdvertiser},
		fields: []jsonField{fieldAdvertiser, fieldCampaign, fieldGroup, fieldText, fieldMatchType}},
	{name: "ad", kind: kindAd, path: []jsonField{fieldAdvertiser, fieldCampaign, fieldGroup},
		fields: []jsonField{fieldAdvertiser, fieldCampaign, fieldGroup, fieldHeadlines, fieldDescriptions, fieldPath1, fieldPath2, fieldFinalURL}},
}

var (
	errFieldMissing = errors.New("missing")
	errFieldEmpty   = errors.New("empty")
	errNull         = errors.New("null restores a default; this field has none")
	errNotText      = errors.New("not a string")
	errNotList      = errors.New("not a list of strings")
	errNotMicros    = errors.New("not a whole number of micros (1 unit = 1,000,000)")
)

// note remembers the first field at fault.
func (s *jsonSource) note(f jsonField, err error) {
	if err != nil && (s.err == nil || f < s.fault) {
		s.fault, s.err = f, err
	}
}

func (s *jsonSource) entityType() *entityType {
	name := s.required(fieldType)
	for i := range entityTypes {
		if entityTypes[i].name == name {
			return &entityTypes[i]
		}
	}
	s.note(fieldType, errors.New("unknown type: advertiser, campaign, group, keyword, negative or ad"))
	return nil
}

// checkFields refuses fields that the type does not have.
func (s *jsonSource) checkFields(t *entityType) {
	for f := fieldAdvertiser; f < fieldStatus; f++ {
		if s.line.values[f].form != formAbsent && !slices.Contains(t.fields, f) {
			s.note(f, fmt.Errorf("no field of type %s", t.name))
		}
	}
}

// owner reads the name of an owner, which is required if the type's path
// contains it.
func (s *jsonSource) owner(f jsonField, t *entityType, fallback string) string {
	if s.line.values[f].form == formAbsent && (fallback != "" || !slices.Contains(t.path, f)) {
		return fallback
	}
	return s.name(f)
}

// name reads the name of an advertiser, campaign or group.
func (s *jsonSource) name(f jsonField) string {
	name := s.required(f)
	s.note(f, checkName(name))
	return name
}

// required reads a string that must be present and not empty.
func (s *jsonSource) required(f jsonField) string {
	if s.line.values[f].form == formAbsent {
		s.note(f, errFieldMissing)
		return ""
	}
	text := s.text(f)
	if text == "" {
		s.note(f, errFieldEmpty)
	}
	return text
}

// text reads a string without outer white space; absent: "".
func (s *jsonSource) text(f jsonField) string {
	switch v := &s.line.values[f]; v.form {
	case formText:
		return v.text
	case formNull:
		s.note(f, errNull)
	case formAbsent:
	default:
		s.note(f, errNotText)
	}
	return ""
}

// texts reads a list of at most limit strings, empty ones left out.
func (s *jsonSource) texts(f jsonField, limit int) []string {
	switch v := &s.line.values[f]; v.form {
	case formList:
		list := slices.DeleteFunc(slices.Clone(v.list), func(text string) bool { return text == "" })
		if len(list) > limit {
			s.note(f, fmt.Errorf("more than %d", limit))
		}
		return list
	case formNull:
		s.note(f, errNull)
	case formAbsent:
	default:
		s.note(f, errNotList)
	}
	return nil
}

func (s *jsonSource) status() backend.Status {
	if s.line.values[fieldStatus].form == formAbsent {
		return backend.Keep
	}
	status, err := parseStatus(s.text(fieldStatus))
	s.note(fieldStatus, err)
	return status
}

// jsonNumber reads a number by its digits; null restores the default.
func jsonNumber[T comparable](s *jsonSource, f jsonField, wrong error, parse func(string) (T, error)) backend.Patch[T] {
	switch v := &s.line.values[f]; v.form {
	case formAbsent:
		return backend.Patch[T]{}
	case formNull:
		return backend.Patch[T]{Op: backend.Reset}
	case formNumber:
		n, err := parse(v.text)
		s.note(f, err)
		return backend.To(n)
	}
	s.note(f, wrong)
	return backend.Patch[T]{}
}

func (s *jsonSource) micros(f jsonField, limit uint64) backend.Patch[uint64] {
	return jsonNumber(s, f, errNotMicros, func(text string) (uint64, error) {
		if !digits(text) {
			return 0, errNotMicros
		}
		n, ok := number(text, limit)
		switch {
		case !ok && limit == maxBidMicros:
			return 0, errBidTooHigh
		case !ok:
			return 0, errTooLarge
		}
		return n, nil
	})
}

func (s *jsonSource) quality() backend.Patch[uint8] {
	return jsonNumber(s, fieldQuality, errQuality, parseQuality)
}

func (s *jsonSource) modifiers() (m [search.Devices]backend.Patch[uint16]) {
	for d := range m {
		m[d] = jsonNumber(s, fieldDesktop+jsonField(d), errPercent, parsePercent)
	}
	return m
}

func (s *jsonSource) languages() backend.Patch[backend.Languages] {
	switch v := &s.line.values[fieldLanguages]; v.form {
	case formAbsent:
	case formNull:
		return backend.Patch[backend.Languages]{Op: backend.Reset}
	case formList:
		codes, err := languageCodes(v.list)
		s.note(fieldLanguages, err)
		return backend.To(codes)
	default:
		s.note(fieldLanguages, errNotList)
	}
	return backend.Patch[backend.Languages]{}
}

func (s *jsonSource) rotation() backend.Patch[bool] { return s.choice(fieldRotation, parseRotation) }

func (s *jsonSource) delivery() backend.Patch[bool] { return s.choice(fieldDelivery, parseDelivery) }

// choice reads a string that says one of two.
func (s *jsonSource) choice(f jsonField, parse func(string) (bool, error)) backend.Patch[bool] {
	if s.line.values[f].form == formAbsent {
		return backend.Patch[bool]{}
	}
	v, err := parse(s.text(f))
	s.note(f, err)
	return backend.To(v)
}

func (s *jsonSource) timeZone() backend.Patch[string] {
	switch s.line.values[fieldTimeZone].form {
	case formAbsent:
		return backend.Patch[string]{}
	case formNull:
		return backend.Patch[string]{Op: backend.Reset}
	}
	name, err := s.zones.parse(s.text(fieldTimeZone))
	s.note(fieldTimeZone, err)
	return backend.To(name)
}
