package targeting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Value is a value that is stored as its canonical JSON, which is "" if nothing is set.
type Value interface{ JSON() string }

// members reads a JSON object with known members, each at most once. A member that is missing or
// null stays nil.
func members(raw []byte, known map[string]*json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		to := known[name.(string)]
		switch {
		case to == nil:
			return fmt.Errorf("unknown field %.40q", name)
		case seen[name.(string)]:
			return fmt.Errorf("%q twice", name)
		}
		seen[name.(string)] = true
		if err := dec.Decode(to); err != nil {
			return err
		}
		if string(*to) == "null" {
			*to = nil
		}
	}
	return ended(dec)
}

// elements reads a JSON array of at most `most` elements. null is an empty array.
func elements(raw []byte, most int) ([]json.RawMessage, error) {
	if raw == nil || string(raw) == "null" {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return nil, errors.New("not a JSON list")
	}
	var list []json.RawMessage
	for dec.More() {
		if len(list) == most {
			return nil, fmt.Errorf("more than %d entries", most)
		}
		var e json.RawMessage
		if err := dec.Decode(&e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, ended(dec)
}

// ended reads the closing bracket and checks that nothing follows it.
func ended(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("text after the value")
	}
	return nil
}

// text reads a JSON string. ok is false if raw is not one.
func text(raw []byte) (s string, ok bool) {
	return s, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
}

// modifierOf reads the member modifier_percent, or returns the default if it is missing.
func modifierOf(raw []byte) (uint16, error) {
	if raw == nil {
		return Default, nil
	}
	return parsePercent(string(raw))
}

// writer appends canonical JSON.
type writer struct {
	bytes.Buffer
	comma bool
}

func (w *writer) member(name string) {
	w.next()
	w.text(name)
	w.WriteByte(':')
	w.comma = false
}

// next writes a comma if something stands before what follows.
func (w *writer) next() {
	if w.comma {
		w.WriteByte(',')
	}
	w.comma = true
}

func (w *writer) open(bracket byte) {
	w.WriteByte(bracket)
	w.comma = false
}

func (w *writer) close(bracket byte) {
	w.WriteByte(bracket)
	w.comma = true
}

func (w *writer) text(s string) {
	e := json.NewEncoder(&w.Buffer)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)         // a string, into memory: it cannot fail
	w.Truncate(w.Len() - 1) // the line end
	w.comma = true
}

func (w *writer) number(name, decimal string) {
	w.member(name)
	w.WriteString(decimal)
	w.comma = true
}

func (w *writer) modifier(permille uint16) {
	if permille != Default {
		w.number("modifier_percent", formatPercent(permille))
	}
}
