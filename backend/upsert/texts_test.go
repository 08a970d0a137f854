package upsert

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTexts writes and reads the texts of an ad, split at '|'; what is stored
// is JSON that any reader of the database understands.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"", "a", "a|b", `"quoted"|back\slash`, "line\nbreak|", "<b>&amp;|\u2028|ž", "||", "],[", `","`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip("texts are valid UTF-8")
		}
		texts := strings.Split(s, "|")
		stored, err := EncodeTexts(texts)
		if err != nil {
			t.Fatal(err)
		}
		read, err := DecodeTexts([]byte(stored))
		if err != nil || !slices.Equal(read, texts) {
			t.Errorf("%q was stored as %s and read as %q, %v", texts, stored, read, err)
		}
		var plain []string
		if err := json.Unmarshal([]byte(stored), &plain); err != nil || !slices.Equal(plain, texts) {
			t.Errorf("%s is read by others as %q, %v", stored, plain, err)
		}
	})
}

// FuzzDecodeTexts decodes any bytes: it must never panic, and valid JSON gives the same texts as encoding/json.
func FuzzDecodeTexts(f *testing.F) {
	for _, s := range []string{`["a","b"]`, `[ "a" ]`, `["a",]`, `[""]`, `[`, `]`, `["a"`, `{"a":1}`, `[1]`, `null`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := DecodeTexts(b)
		var plain []string
		if json.Unmarshal(b, &plain) == nil && utf8.Valid(b) && (err != nil || !slices.Equal(read, plain)) {
			t.Errorf("%s: %q, %v; as JSON %q", b, read, err, plain)
		}
	})
}
