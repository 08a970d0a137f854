package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"adshard/fault"
)

// FromBody fills p from a JSON object. Beyond what encoding/json refuses, it
// refuses bytes that are not UTF-8, escapes of half a surrogate pair, repeated
// fields and anything after the object. Errors are fault.Invalid.
func FromBody(p Params, body []byte) error {
	if !utf8.Valid(body) {
		return fault.Field(op, "", "the body is not valid UTF-8")
	}
	if halfSurrogate(body) {
		return fault.Field(op, "", `the body has a \u escape of half a surrogate pair, which is no character`)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fault.Field(op, "", "the body must be a JSON object")
	}
	var g given
	for d.More() {
		name, v, err := member(d, body)
		if err != nil {
			return err
		}
		if err := g.set(p, name, v); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return notJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fault.Field(op, "", "there is something after the JSON object")
	}
	return g.done(p)
}

// member reads a field of the object that d is in; body is what d reads.
func member(d *json.Decoder, body []byte) (string, Value, error) {
	key, err := d.Token()
	if err != nil {
		return "", Value{}, notJSON(err)
	}
	name, ok := key.(string)
	if !ok {
		return "", Value{}, fault.Field(op, "", "the body is not a JSON object of fields")
	}
	t, err := d.Token()
	if err != nil {
		return "", Value{}, notJSON(err)
	}
	if t == json.Delim('{') {
		raw, err := object(d, body)
		return name, Value{Object, raw}, err
	}
	return name, valueOf(t), nil
}

// object reads on to the end of an object whose { was read, and returns it as
// it stands in body.
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
	case json.Delim: // a [, since { was seen to
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

// halfSurrogate reports whether some \uD800–\uDFFF in JSON is not part of a
// pair; encoding/json would silently make it U+FFFD.
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
