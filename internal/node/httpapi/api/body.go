package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"adshard/fault"
)

// maxFields bounds the fields of an object. No object that a port accepts has as many.
const maxFields = 128

// FromBody fills p from a JSON object, as FromObject reads it. Errors: fault.Invalid.
func FromBody(p Params, body []byte) error {
	var g given
	l, _ := p.(lists)
	page, _ := p.(*SearchBody)
	err := FromObject(body, func(d *json.Decoder, name string) error {
		if page != nil && name == placementsField {
			return page.setPlacements(d, body)
		}
		if l != nil && l.single(name) {
			return Unknown(name)
		}
		if l != nil {
			if param, ok := l.list(name); ok {
				return setList(d, p, name, param)
			}
		}
		v, err := value(d, body)
		if err != nil {
			return err
		}
		return g.set(p, name, v)
	})
	if err != nil {
		return err
	}
	return g.done(p)
}

// FromObject reads a JSON object, and nothing else; all ports read bodies with it. Beyond what encoding/json refuses, it
// refuses bytes that are not UTF-8, escapes of half a surrogate pair, repeated fields, and anything after the object, so
// that a proxy that has checked the body has read the same content. Names are compared byte by byte. `each` reads the
// value of a field from d. Errors: fault.Invalid, and those of `each`.
func FromObject(body []byte, each func(d *json.Decoder, name string) error) error {
	if !utf8.Valid(body) {
		return fault.Field(op, "", "the body is not valid UTF-8")
	}
	if halfSurrogate(body) {
		return fault.Field(op, "", `the body has a \u escape of half a surrogate pair, which is not a character`)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := Fields(d, func(name string) error { return each(d, name) }); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fault.Field(op, "", "there is something after the JSON object")
	}
	return nil
}

// Fields reads an object within a body that FromObject reads; `each` reads the value of a field. Errors: those of
// FromObject.
func Fields(d *json.Decoder, each func(name string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fault.Field(op, "", "the body must be a JSON object")
	}
	names := make([]string, 0, 8)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return notJSON(err)
		}
		name, ok := key.(string)
		switch {
		case !ok:
			return fault.Field(op, "", "the body is not a JSON object of fields")
		case slices.Contains(names, name):
			return Repeated(shorten(name))
		case len(names) == maxFields:
			return fault.Field(op, "", "an object has more than %d fields", maxFields)
		}
		names = append(names, name)
		if err := each(name); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return notJSON(err)
	}
	return nil
}

// value reads the value of a field. `body` is the text that d reads.
func value(d *json.Decoder, body []byte) (Value, error) {
	t, err := d.Token()
	if err != nil {
		return Value{}, notJSON(err)
	}
	if t == json.Delim('{') {
		raw, err := object(d, body)
		return Value{Object, raw}, err
	}
	return valueOf(t), nil
}

// object reads on to the end of an object whose { has been read, and returns the object's text in `body`.
func object(d *json.Decoder, body []byte) (string, error) {
	begin := d.InputOffset() - 1
	for depth := 1; depth > 0; {
		t, err := d.Token()
		if err != nil {
			return "", notJSON(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return string(body[begin:d.InputOffset()]), nil
}

func valueOf(t json.Token) Value {
	switch t := t.(type) {
	case string:
		return Value{String, t}
	case json.Number:
		return Value{Number, t.String()}
	case bool:
		return Value{Bool, fmt.Sprint(t)}
	case json.Delim: // a [, since { was handled above
		return Value{Other, "an array"}
	}
	return Value{Other, "null"}
}

func notJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Field(op, "", "the body is not JSON: it ends too early")
	}
	return fault.Field(op, "", "the body is not JSON: %s", shorten(err.Error()))
}

// halfSurrogate reports whether JSON text has a \uD800–\uDFFF that is not part of a pair; encoding/json would silently
// turn it into U+FFFD.
func halfSurrogate(body []byte) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		switch escape(body[i:]) {
		case high:
			if escape(body[min(i+6, len(body)):]) != low {
				return true
			}
			i += 11
		case low:
			return true
		default:
			i++ // the escaped character may be a backslash
		}
	}
	return false
}

type surrogate uint8

const (
	neither surrogate = iota
	high
	low
)

func escape(b []byte) surrogate {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' || b[2]|0x20 != 'd' {
		return neither
	}
	switch b[3] | 0x20 {
	case '8', '9', 'a', 'b':
		return high
	case 'c', 'd', 'e', 'f':
		return low
	}
	return neither
}
