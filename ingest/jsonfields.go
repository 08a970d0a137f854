package ingest

import (
	"errors"
	"fmt"
	"slices"

	"adshard/backend"
	"adshard/ingest/values"
	"adshard/targeting"
)

// jsonField is a field of a JSON line (settings.gen.go). Fields are checked for faults in this order.
type jsonField uint8

// String returns the field's name in a line.
func (f jsonField) String() string { return fieldNames[f] }

// entityType is a value of the field type. path lists the owners that a line of it must name, owners those that it
// may name.
type entityType struct {
	name         string
	kind         kind
	owners, path []jsonField
}

var entityTypes = [backend.Entities]entityType{
	{name: "advertiser", kind: kindAdvertiser},
	{name: "campaign", kind: kindCampaign, owners: allOwners[:1], path: allOwners[:1]},
	{name: "group", kind: kindGroup, owners: allOwners[:2], path: allOwners[:2]},
	{name: "keyword", kind: kindKeyword, owners: allOwners, path: allOwners},
	{name: "negative", kind: kindGroupNegative, owners: allOwners, path: allOwners[:1]},
	{name: "ad", kind: kindAd, owners: allOwners, path: allOwners},
}

var allOwners = []jsonField{fieldAdvertiser, fieldCampaign, fieldGroup}

var (
	errFieldMissing = errors.New("missing")
	errFieldEmpty   = errors.New("empty")
	errNull         = errors.New("null restores a default; this field has none")
	errNotText      = errors.New("not a string")
	errNotList      = errors.New("not a list of strings")
)

// note records an error of a field. Only the error of the first field at fault is kept.
func (s *jsonSource) note(f jsonField, err error) {
	if err != nil && (s.err == nil || f < s.fault) {
		s.fault, s.err = f, err
	}
}

// entityType returns the kind of entity that the line names. ok is false if its type is unknown.
func (s *jsonSource) entityType() (of backend.Entity, ok bool) {
	name := s.required(fieldType)
	for of := range backend.Entities {
		if of.String() == name {
			return of, true
		}
	}
	s.note(fieldType, errors.New("unknown type: advertiser, campaign, group, keyword, negative or ad"))
	return 0, false
}

// checkFields notes an error for each field that is neither an owner nor a field of the entity itself.
func (s *jsonSource) checkFields(of backend.Entity, owners []jsonField) {
	for f := fieldAdvertiser; f < fieldStatus; f++ {
		if s.line.values[f].form != formAbsent && !slices.Contains(owners, f) && !slices.Contains(ownFields[of], f) {
			s.note(f, fmt.Errorf("no field of type %v", of))
		}
	}
}

// owner reads the name of an owner, which is required if the type's path contains the owner and there is no fallback.
func (s *jsonSource) owner(f jsonField, t *entityType, fallback string) string {
	if s.line.values[f].form == formAbsent && (fallback != "" || !slices.Contains(t.path, f)) {
		return fallback
	}
	return s.name(f)
}

// name reads the name of an advertiser, campaign or group.
func (s *jsonSource) name(f jsonField) string {
	name := s.required(f)
	s.note(f, values.CheckName(name))
	return name
}

// required reads a string that must be present and must not be empty.
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

// text reads a string without outer white space, or "" if the field is absent.
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

// texts reads a list of at most `limit` strings. Empty strings are left out.
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
	status, err := values.ParseStatus(s.text(fieldStatus))
	s.note(fieldStatus, err)
	return status
}

// jsonNumber reads a number from its digits; null restores the default.
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
	return jsonNumber(s, f, values.ErrNotMicros, values.ParseMicros(limit))
}

func (s *jsonSource) languages() backend.Patch[backend.Languages] {
	switch v := &s.line.values[fieldLanguages]; v.form {
	case formAbsent:
	case formNull:
		return backend.Patch[backend.Languages]{Op: backend.Reset}
	case formList:
		codes, err := values.LanguageCodes(v.list)
		s.note(fieldLanguages, err)
		return backend.To(codes)
	default:
		s.note(fieldLanguages, errNotList)
	}
	return backend.Patch[backend.Languages]{}
}

// choice reads a string that is one of two values.
func (s *jsonSource) choice(f jsonField, parse func(string) (bool, error)) backend.Patch[bool] {
	if s.line.values[f].form == formAbsent {
		return backend.Patch[bool]{}
	}
	v, err := parse(s.text(f))
	s.note(f, err)
	return backend.To(v)
}

// choiceOrNull is like choice, but null restores the default.
func (s *jsonSource) choiceOrNull(f jsonField, parse func(string) (bool, error)) backend.Patch[bool] {
	if s.line.values[f].form == formNull {
		return backend.Patch[bool]{Op: backend.Reset}
	}
	return s.choice(f, parse)
}

// jsonValueOf reads a value of package targeting that replaces the old one as a whole. null and an empty value erase
// it.
func jsonValueOf[T targeting.Value](s *jsonSource, f jsonField, parse func([]byte) (T, error)) backend.Patch[string] {
	switch v := &s.line.values[f]; v.form {
	case formAbsent:
		return backend.Patch[string]{}
	case formNull:
		return backend.Patch[string]{Op: backend.Reset}
	default:
		parsed, err := parse([]byte(v.text))
		s.note(f, err)
		if text := parsed.JSON(); text != "" {
			return backend.To(text)
		}
		return backend.Patch[string]{Op: backend.Reset}
	}
}

// value reads a string; null restores the default.
func (s *jsonSource) value(f jsonField, parse func(string) (string, error)) backend.Patch[string] {
	switch s.line.values[f].form {
	case formAbsent:
		return backend.Patch[string]{}
	case formNull:
		return backend.Patch[string]{Op: backend.Reset}
	}
	text, err := parse(s.text(f))
	s.note(f, err)
	return backend.To(text)
}
