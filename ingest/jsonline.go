package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest/rejected"
	"adshard/ingest/values"
)

// jsonLine is a parsed line. It is not decoded with encoding/json's decoding into structs, which silently ignores the
// case of names, takes the last of two equal names, and replaces damaged text.
type jsonLine struct {
	values [fields]jsonValue
}

// jsonValue is a value of one of the forms that fields have.
type jsonValue struct {
	form form
	text string // a string without outer white space, or a number or value as written
	list []string
}

type form uint8

const (
	formAbsent form = iota
	formNull
	formText
	formNumber
	formList  // of strings
	formValue // of one of valueFields
	formOther // true, false
)

var (
	errNotObject    = errors.New(`not a JSON object: {"type": "keyword", …}`)
	errUnknownField = errors.New("unknown field")
)

// parse reads an object of known fields. If it fails, column is the field at fault, or "" if the line as a whole is.
func (l *jsonLine) parse(raw []byte) (column string, err error) {
	l.values = [fields]jsonValue{}
	if !utf8.Valid(raw) || loneSurrogate(raw) {
		return "", values.ErrText
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return "", errNotObject
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return "", jsonFault(err)
		}
		if column, err := l.parseField(dec, name.(string)); err != nil {
			return column, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return "", jsonFault(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return "", errors.New("text after the object: one object a line")
	}
	return "", nil
}

func (l *jsonLine) parseField(dec *json.Decoder, name string) (column string, err error) {
	i := slices.Index(fieldNames[:], name)
	if i < 0 {
		return shortened(name), errUnknownField
	}
	v := &l.values[i]
	if v.form != formAbsent {
		return name, errors.New("twice in one line")
	}
	if valueFields[i] {
		return "", v.parseValue(dec)
	}
	token, err := dec.Token()
	if err != nil {
		return "", jsonFault(err)
	}
	switch t := token.(type) {
	case nil:
		v.form = formNull
	case string:
		v.form, v.text = formText, strings.TrimSpace(t)
		if err := values.CheckText([]byte(t)); err != nil {
			return name, err
		}
	case json.Number:
		v.form, v.text = formNumber, string(t)
	case json.Delim:
		if t != '[' {
			return name, errors.New("a field's value cannot be an object")
		}
		return name, v.parseList(dec)
	default:
		v.form, v.text = formOther, fmt.Sprint(t)
	}
	return "", nil
}

func (v *jsonValue) parseValue(dec *json.Decoder) error {
	var raw json.RawMessage
	err := dec.Decode(&raw)
	v.form, v.text = formValue, string(raw)
	if v.text == "null" {
		v.form = formNull
	}
	return jsonFault(err)
}

func (v *jsonValue) parseList(dec *json.Decoder) error {
	v.form = formList
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return jsonFault(err)
		}
		text, ok := token.(string)
		if !ok {
			return errNotList
		}
		if err := values.CheckText([]byte(text)); err != nil {
			return err
		}
		v.list = append(v.list, strings.TrimSpace(text))
	}
	_, err := dec.Token()
	return jsonFault(err)
}

func jsonFault(err error) error {
	if err == nil {
		return nil
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("not valid JSON: the line ends too early")
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// value returns the text that the reason of a reject quotes.
func (v *jsonValue) value() string {
	if v.form == formList {
		return strings.Join(v.list, "; ")
	}
	return v.text
}

// shortened returns a name cut to a length that fits into a reject.
func shortened(name string) string {
	const limit = 40
	for i := range name {
		if i >= limit {
			return name[:i] + "…"
		}
	}
	return name
}

// loneSurrogate reports whether raw holds a \u escape of half a surrogate pair,
// which encoding/json would replace.
func loneSurrogate(raw []byte) bool {
	for i := bytes.IndexByte(raw, '\\'); i >= 0 && i+1 < len(raw); {
		unit, ok := escapedUnit(raw[i:])
		width := 2
		if ok {
			width = 6
			if unit&0xF800 == 0xD800 {
				low, ok := escapedUnit(raw[i+6:])
				if unit&0x0400 != 0 || !ok || low&0xFC00 != 0xDC00 {
					return true
				}
				width = 12
			}
		}
		next := bytes.IndexByte(raw[i+width:], '\\')
		if next < 0 {
			return false
		}
		i += width + next
	}
	return false
}

// escapedUnit reads \uXXXX at the start of b.
func escapedUnit(b []byte) (unit uint16, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		var d byte
		switch {
		case c >= '0' && c <= '9':
			d = c - '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			d = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		unit = unit<<4 | uint16(d)
	}
	return unit, true
}

// Settings are an entity's own fields, checked like those of a JSON line: its name or content, and the changes of its
// other fields. Only the fields for its kind are set.
type Settings struct {
	Name       string // of an advertiser, campaign or group
	Advertiser backend.AdvertiserPatch
	Campaign   backend.CampaignPatch
	Group      backend.GroupPatch
	Keyword    backend.KeywordPatch
	Negative   backend.NegativePatch
	Ad         backend.AdPatch
}

// ParseSettings reads a JSON object with the fields of a JSON line of the kind, except type and the names of owners.
// It returns fault.Invalid with the field at fault.
func ParseSettings(of backend.Entity, object []byte) (*Settings, error) {
	const op = "ingest: read settings"
	var s jsonSource
	if column, err := s.line.parse(object); err != nil {
		if column != "" {
			err = fmt.Errorf("%s: %w", column, err)
		}
		return nil, fault.Field(op, column, "%w", err)
	}
	s.checkFields(of, nil)
	if s.line.values[fieldType].form != formAbsent {
		s.note(fieldType, errors.New("no field here"))
	}
	e := entry{kind: entityTypes[of].kind}
	s.entity(&e)
	if s.err != nil {
		return nil, fault.Field(op, s.fault.String(), "%s: %s", s.fault, rejected.Found(reason(s.err), s.line.values[s.fault].value()))
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

// Status returns the change of the entity's status.
func (s *Settings) Status(of backend.Entity) backend.Status {
	return []backend.Status{s.Advertiser.Status, s.Campaign.Status, s.Group.Status, s.Keyword.Status, s.Negative.Status, s.Ad.Status}[of]
}

// KeyFields returns the fields that identify an entity among those of its owner. They never change.
func KeyFields(of backend.Entity) []string {
	return keyFields[of]
}
