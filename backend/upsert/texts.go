package upsert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"adshard/fault"
)

// EncodeTexts encodes texts as a JSON array. Equal texts always give the same array, since it is part of an ad's
// natural key.
func EncodeTexts(texts []string) (string, error) {
	if len(texts) == 0 {
		return "[]", nil
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(texts); err != nil {
		return "", fault.New(fault.Invalid, "write ad", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// DecodeTexts decodes a JSON array of strings. Nearly all arrays have no escapes; those are decoded without the JSON
// decoder. It returns fault.Corrupt if b is not such an array.
func DecodeTexts(b []byte) ([]string, error) {
	if string(b) == "[]" {
		return nil, nil
	}
	if texts, ok := decodePlain(b); ok {
		return texts, nil
	}
	var texts []string
	if err := json.Unmarshal(b, &texts); err != nil {
		return nil, fault.New(fault.Corrupt, "read ad", fmt.Errorf("the texts of an ad are not a JSON array of strings: %w", err))
	}
	return texts, nil
}

// decodePlain decodes an array like ["a","b"] without escapes or white space. All strings share one allocation. ok
// is false if the array is not like that.
func decodePlain(b []byte) ([]string, bool) {
	if len(b) < 4 || b[0] != '[' || b[len(b)-1] != ']' || bytes.IndexByte(b, '\\') >= 0 {
		return nil, false
	}
	s := string(b[1 : len(b)-1])
	texts := make([]string, 0, strings.Count(s, `"`)/2)
	for {
		if s == "" || s[0] != '"' {
			return nil, false
		}
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return nil, false
		}
		texts = append(texts, s[1:1+end])
		s = s[2+end:]
		if s == "" {
			return texts, true
		}
		if s[0] != ',' {
			return nil, false
		}
		s = s[1:]
	}
}
