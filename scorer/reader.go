package scorer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reader reads JSON of a known shape, and refuses repeated names, which package json accepts. After an error it reads nothing
// more.
type reader struct {
	d   *json.Decoder
	err error
}

func newReader(file []byte) (*reader, error) {
	if len(file) > MaxBytes {
		return nil, errorAt("", "the model has %d bytes, at most %d are allowed", len(file), MaxBytes)
	}
	if !utf8.Valid(file) {
		return nil, errorAt("", "the model is not valid UTF-8")
	}
	r := &reader{d: json.NewDecoder(bytes.NewReader(file))}
	r.d.UseNumber()
	return r, nil
}

// fail keeps the first error.
func (r *reader) fail(place, text string, args ...any) {
	if r.err == nil {
		r.err = errorAt(place, "%s", strings.TrimSpace(place+" "+fmt.Sprintf(text, args...)))
	}
}

// token reads the next token.
func (r *reader) token(place string) json.Token {
	if r.err != nil {
		return nil
	}
	t, err := r.d.Token()
	if err != nil {
		r.fail(place, "cannot be read: %v (byte %d)", err, r.d.InputOffset())
	}
	return t
}

// begin reads an opening bracket.
func (r *reader) begin(place string, bracket json.Delim, what string) bool {
	if t := r.token(place); r.err == nil && t != bracket {
		r.fail(place, "is %v; it must be %s", t, what)
	}
	return r.err == nil
}

// object reads an object. It calls `each` to read the value of each name.
func (r *reader) object(place string, each func(name string)) {
	if !r.begin(place, '{', "an object") {
		return
	}
	seen := make(map[string]bool)
	for r.err == nil && r.d.More() {
		name, _ := r.token(place).(string)
		if seen[name] {
			r.fail(place, "has %q twice", name)
		}
		seen[name] = true
		if r.err == nil {
			each(name)
		}
	}
	r.token(place) // the closing bracket
}

// list reads a list. It calls `each` with the place of each entry to read the entry.
func (r *reader) list(place string, each func(place string)) {
	if !r.begin(place, '[', "a list") {
		return
	}
	for i := 0; r.err == nil && r.d.More(); i++ {
		each(fmt.Sprintf("%s[%d]", place, i))
	}
	r.token(place)
}

// integer reads an integer.
func (r *reader) integer(place string) int64 {
	t := r.token(place)
	text, _ := t.(json.Number)
	n, err := strconv.ParseInt(string(text), 10, 64)
	if r.err == nil && err != nil {
		r.fail(place, "is %v; it must be an integer", t)
	}
	return n
}

// weight reads an integer from −MaxWeight to MaxWeight.
func (r *reader) weight(place string) int64 {
	n := r.integer(place)
	if r.err == nil && (n < -MaxWeight || n > MaxWeight) {
		r.fail(place, "is %d; it must be from -%d to %d", n, MaxWeight, MaxWeight)
	}
	return n
}

// number reads an integer from 0 to 2⁶⁴ − 1.
func (r *reader) number(place string) uint64 {
	t := r.token(place)
	text, _ := t.(json.Number)
	n, err := strconv.ParseUint(string(text), 10, 64)
	if r.err == nil && err != nil {
		r.fail(place, "is %v; it must be an integer, not negative", t)
	}
	return n
}

// text reads a text.
func (r *reader) text(place string) string {
	t := r.token(place)
	s, ok := t.(string)
	if r.err == nil && !ok {
		r.fail(place, "is %v; it must be a text", t)
	}
	return s
}

// end checks that nothing follows.
func (r *reader) end() {
	if r.err != nil {
		return
	}
	if _, err := r.d.Token(); err != io.EOF {
		r.fail("", "something follows the model (byte %d)", r.d.InputOffset())
	}
}
