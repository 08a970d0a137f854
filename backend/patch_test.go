package backend

import (
	"strings"
	"testing"

	"adshard/fault"
)

// TestTextsAreBounded: a patch may set a text of at most the bytes allowed; no other part of a patch is checked.
func TestTextsAreBounded(t *testing.T) {
	for text, allowed := range map[string]bool{"": true, strings.Repeat("ž", 5): true, strings.Repeat("ž", 5) + "x": false} {
		err := To(text).check("label", atMost(10))
		if (err == nil) != allowed || err != nil && (!fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "label") {
			t.Errorf("%q: %v", text, err)
		}
		if err := (Patch[string]{Op: Reset, Value: text}).check("label", atMost(10)); err != nil {
			t.Errorf("%q is not set: %v", text, err)
		}
	}
}

// TestLanguages: codes are sorted, without duplicates.
func TestLanguages(t *testing.T) {
	if l := LanguagesOf("en", "cs", "en"); l != "cs en" || strings.Join(l.Codes(), ",") != "cs,en" {
		t.Errorf("%q, %q", l, l.Codes())
	}
	if l := LanguagesOf(); l != "" || l.Codes() != nil {
		t.Errorf("none: %q, %q", l, l.Codes())
	}
}
