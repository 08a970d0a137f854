package api

import (
	"net/url"
	"strings"

	"adshard/fault"
)

// Params are the generated parameters of an operation.
type Params interface {
	// Set checks and keeps a value, and returns the parameter's number.
	Set(name string, v Value) (int, error)
	// Required returns the name of a parameter that must be given but is not in the set, or "".
	Required(given uint64) string
}

// None stands for the parameters of an operation that has none.
type None struct{}

// Set returns an error for every name.
func (None) Set(name string, _ Value) (int, error) { return 0, Unknown(name) }

// Required returns "".
func (None) Required(uint64) string { return "" }

// FromQuery fills p from a query string. A ; is an ordinary character, as in the URL standard.
// Errors: fault.Invalid for an unknown, repeated, missing or wrong parameter, and for a % that is
// not an escape.
func FromQuery(p Params, raw string) error {
	var g given
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := unescape(name, "")
		if err != nil {
			return err
		}
		if value, err = unescape(value, name); err != nil {
			return err
		}
		if err := g.set(p, name, Value{Raw: value}); err != nil {
			return err
		}
	}
	return g.done(p)
}

func unescape(s, field string) (string, error) {
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '+') < 0 {
		return s, nil
	}
	u, err := url.QueryUnescape(s)
	if err != nil {
		return "", fault.Field(op, shorten(field), "a %% in the query string must be followed by two hexadecimal digits")
	}
	return u, nil
}

// given is the set of parameters that have a value.
type given uint64

func (g *given) set(p Params, name string, v Value) error {
	i, err := p.Set(name, v)
	if err != nil || i == List {
		return err
	}
	if *g&(1<<i) != 0 {
		return Repeated(name)
	}
	*g |= 1 << i
	return nil
}

func (g given) done(p Params) error {
	if name := p.Required(uint64(g)); name != "" {
		return Missing(name)
	}
	return nil
}
