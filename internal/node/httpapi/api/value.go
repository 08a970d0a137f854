package api

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"adshard/fault"
)

const op = "http: request"

// Kind says how a value was written.
type Kind uint8

// The kinds. A value of a query string is Untyped: any type may be read from
// its text.
const (
	Untyped Kind = iota
	String
	Number
	Bool
	Object // Raw is the object's text, for FromBody
	Other  // null or an array
)

// Value is a parameter's value that has not been checked yet.
type Value struct {
	Kind Kind
	Raw  string // the string itself, or the literal
}

// Integer reads an integer from `min` to `max`, written without a plus sign, leading zeros, a
// fraction or an exponent. Errors: fault.Invalid.
func (v Value) Integer(field string, min, max int) (int, error) {
	n, err := strconv.Atoi(v.Raw)
	if err != nil || v.Kind != Untyped && v.Kind != Number || strconv.Itoa(n) != v.Raw || n < min || n > max {
		return 0, fault.Field(op, field, "%s must be a whole number from %d to %d, not %s", field, min, max, v.shown())
	}
	return n, nil
}

// Boolean reads true or false. Errors: fault.Invalid.
func (v Value) Boolean(field string) (bool, error) {
	if v.Kind == Untyped || v.Kind == Bool {
		switch v.Raw {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	}
	return false, fault.Field(op, field, "%s must be true or false, not %s", field, v.shown())
}

// Text reads a string of valid UTF-8 with at most `limit` bytes. Errors: fault.Invalid.
func (v Value) Text(field string, limit int) (string, error) {
	switch {
	case v.Kind != Untyped && v.Kind != String:
		return "", fault.Field(op, field, "%s must be a string, not %s", field, v.shown())
	case len(v.Raw) > limit:
		return "", fault.Field(op, field, "%s has %d bytes, the most is %d", field, len(v.Raw), limit)
	case !utf8.ValidString(v.Raw):
		return "", fault.Field(op, field, "%s is not valid UTF-8", field)
	}
	return v.Raw, nil
}

// OneOf reads a value that must be one of `allowed`. Errors: fault.Invalid.
func OneOf[T ~string](v Value, field string, allowed ...T) (T, error) {
	if v.Kind == Untyped || v.Kind == String {
		for _, a := range allowed {
			if string(a) == v.Raw {
				return a, nil
			}
		}
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	return "", fault.Field(op, field, "%s must be %s, not %s", field, strings.Join(names, " or "), v.shown())
}

// Unknown returns the error for a name that is not a parameter.
func Unknown(name string, known ...string) error {
	what := "there are none here"
	if len(known) > 0 {
		what = "there are " + strings.Join(known, ", ")
	}
	return fault.Field(op, shorten(name), "unknown field %q; %s", shorten(name), what)
}

// Repeated returns the error for a field that is given more than once.
func Repeated(name string) error {
	return fault.Field(op, name, "%s is given more than once", name)
}

// Missing returns the error for a required field that is not given.
func Missing(name string) error {
	return fault.Field(op, name, "%s is missing; it must be given, if only empty", name)
}

func (v Value) shown() string {
	switch v.Kind {
	case Untyped, String:
		return fmt.Sprintf("%q", shorten(v.Raw))
	case Object:
		return "an object"
	}
	return shorten(v.Raw)
}

// shorten makes a text fit for messages and for JSON: short, and valid UTF-8.
func shorten(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
