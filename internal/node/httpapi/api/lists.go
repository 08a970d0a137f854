package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"adshard/fault"
)

// Values are the values of a parameter that are not checked before they are used.
type Values []Value

// List stands for the number of a parameter that may be given more than once.
const List = -1

// lists is implemented by parameters whose lists have other names in bodies than in query strings.
type lists interface {
	// list returns the parameter of a field in a body. ok is false if the field is not a list.
	list(field string) (param string, ok bool)
	// single reports whether a parameter is the single form of a list, which does not occur in
	// bodies.
	single(param string) bool
}

// listFields returns the names of the lists in the body of a search, each with its parameter.
func (*SearchParams) listFields() [][2]string {
	return [][2]string{
		{"locations", "location"}, {"interest_locations", "interest_location"}, {"languages", "language"}, {"audiences", "audience"},
		{"block", "block"}, {"block_advertisers", "block_advertiser"}, {"block_domains", "block_domain"},
		{"block_categories", "block_category"},
	}
}

func (p *SearchParams) list(field string) (string, bool) { return listOf(p.listFields(), field) }
func (p *SearchParams) single(param string) bool         { return singleOf(p.listFields(), param) }

func listOf(all [][2]string, field string) (string, bool) {
	for _, f := range all {
		if f[0] == field {
			return f[1], true
		}
	}
	return "", false
}

func singleOf(all [][2]string, param string) bool {
	for _, f := range all {
		if f[1] == param && f[0] != param {
			return true
		}
	}
	return false
}

// BodyName returns the name that a parameter of a search has in a body.
func (p *SearchParams) BodyName(param string) string {
	for _, f := range p.listFields() {
		if f[1] == param {
			return f[0]
		}
	}
	return param
}

// setList sets a parameter to each element of a list in turn.
func setList(d *json.Decoder, p Params, field, param string) error {
	if t, err := d.Token(); err != nil {
		return notJSON(err)
	} else if t != json.Delim('[') {
		return fault.Field(op, field, "%s must be a list", field)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return notJSON(err)
		}
		if _, nested := t.(json.Delim); nested {
			return fault.Field(op, field, "%s must be a list of numbers or strings", field)
		}
		if _, err := p.Set(param, valueOf(t)); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return notJSON(err)
	}
	return nil
}

// One returns the only value. ok is false if there is none.
func (v Values) One() (Value, bool) {
	if len(v) == 0 {
		return Value{}, false
	}
	return v[0], true
}

var (
	errNotText = errors.New("it must be a string")
	errNotUTF8 = errors.New("it is not valid UTF-8")
)

// String returns the text of a value that is a string.
func (v Value) String() (string, error) {
	if v.Kind != Untyped && v.Kind != String {
		return "", fmt.Errorf("%w, not %s", errNotText, v.shown())
	}
	if !utf8.ValidString(v.Raw) {
		return "", errNotUTF8
	}
	return v.Raw, nil
}
