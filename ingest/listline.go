package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/ingest/rejected"
	"adshard/ingest/values"
)

// maxListLine is the most bytes of a line with a block list, which may have a million entries.
const maxListLine = 32 << 20

// listLine is a line of a block list. Fields that the line does not have leave the fields of the list unchanged.
type listLine struct {
	at     rejected.Row // the place of the line in the file
	name   string
	status backend.Status
	own    blocklist.List
	names  []string        // of advertisers
	has    map[string]bool // fields
}

// The fields of the line that are not fields of the list itself.
const (
	listType   = "type"
	listStatus = "status"
	listNames  = "advertiser_names"
)

// isList reports whether a line is that of a block list.
func isList(raw []byte) bool {
	const value = `"blocklist"`
	for {
		i := bytes.Index(raw, []byte(value))
		if i < 0 {
			return false
		}
		before, colon := bytes.CutSuffix(bytes.TrimRight(raw[:i], " \t"), []byte(":"))
		if colon && bytes.HasSuffix(bytes.TrimRight(before, " \t"), []byte(`"type"`)) {
			return true
		}
		raw = raw[i+len(value):]
	}
}

// AppendBlocklist appends the line of a block list. names are the names of its advertisers, since their ids differ between
// databases.
func AppendBlocklist(b []byte, name string, l *blocklist.List, names []string) ([]byte, error) {
	line, err := json.Marshal(struct {
		Type            string   `json:"type"`
		Name            string   `json:"name"`
		AdvertiserNames []string `json:"advertiser_names"`
		Domains         []string `json:"domains"`
		Categories      []string `json:"categories"`
		Uncategorised   bool     `json:"block_uncategorised"`
	}{"blocklist", name, listOf(names), l.WrittenDomains(), listOf(l.Categories), l.Uncategorised})
	return append(append(b, line...), '\n'), err
}

// listOf returns a list that JSON writes as [] if it is empty, and not as null.
func listOf(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// list reads a line of a block list.
func (s *jsonSource) list(e *entry, raw []byte) {
	l := &listLine{at: rejected.Row{File: s.file, Record: e.record}, has: make(map[string]bool)}
	e.kind = kindBlocklist
	field, err := l.parse(raw)
	if err == nil {
		field, err = l.check()
	}
	if err != nil {
		l.at.Column, l.at.Reason = field, err.Error()
		e.reject = &l.at
		return
	}
	e.list = l
}

// parse reads the fields. If it fails, field is the first field at fault, or "" if the line as a whole is.
func (l *listLine) parse(raw []byte) (field string, err error) {
	if !utf8.Valid(raw) || loneSurrogate(raw) {
		return "", values.ErrText
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return "", errNotObject
	}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return "", jsonFault(err)
		}
		name := token.(string)
		if l.has[name] {
			return name, errors.New("twice in one line")
		}
		l.has[name] = true
		if err := l.field(dec, name); err != nil {
			return shortened(name), err
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

func (l *listLine) field(dec *json.Decoder, name string) error {
	switch name {
	case listType, blocklist.FieldName, listStatus:
		var text string
		if err := decodeField(dec, &text); err != nil {
			return err
		}
		return l.text(name, strings.TrimSpace(text))
	case blocklist.FieldUncategorised:
		return decodeField(dec, &l.own.Uncategorised)
	case blocklist.FieldDomains:
		return decodeField(dec, &l.own.Domains)
	case blocklist.FieldCategories:
		return decodeField(dec, &l.own.Categories)
	case listNames:
		return decodeField(dec, &l.names)
	case blocklist.FieldAdvertisers:
		return decodeField(dec, &l.own.Advertisers)
	}
	return errUnknownField
}

// decodeField decodes a value; null becomes the zero value.
func decodeField[T any](dec *json.Decoder, to *T) error {
	err := dec.Decode(to)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		return fmt.Errorf("a value of another kind: %s", wrong.Value)
	}
	if err != nil {
		return jsonFault(err)
	}
	return nil
}

func (l *listLine) text(name, text string) error {
	switch {
	case name == blocklist.FieldName:
		l.name = text
	case name == listStatus:
		switch strings.ToLower(text) {
		case "removed":
			l.status = backend.Remove
		case "", "enabled":
		default:
			return errors.New("unknown status: removed, or leave it out")
		}
	}
	return nil
}

// check checks and normalises what was read. If it fails, field is the field at fault.
func (l *listLine) check() (field string, err error) {
	err = blocklist.CheckName(l.name)
	if err == nil {
		err = l.own.Normalise()
	}
	if err == nil && l.own.Entries()+len(l.names) > blocklist.MaxEntries {
		err = fault.Field("block list", listNames, "more than %d entries", blocklist.MaxEntries)
	}
	if err != nil {
		return fault.FieldOf(err), errors.New(fault.Cause(err))
	}
	return "", nil
}

// apply changes a list as the line says. ids are those of the advertisers that the line names. It returns fault.Invalid if the
// list would have too many entries.
func (l *listLine) apply(to *blocklist.List, ids []uint64) error {
	if l.has[blocklist.FieldAdvertisers] || l.has[listNames] {
		to.Advertisers = append(append([]uint64(nil), l.own.Advertisers...), ids...)
	}
	if l.has[blocklist.FieldDomains] {
		to.Domains = l.own.Domains
	}
	if l.has[blocklist.FieldCategories] {
		to.Categories = l.own.Categories
	}
	if l.has[blocklist.FieldUncategorised] {
		to.Uncategorised = l.own.Uncategorised
	}
	return to.Order()
}
