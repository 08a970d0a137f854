package placeholder_test

import (
	"math"
	"testing"
	"unicode/utf8"

	"adshard/search/placeholder"
)

// FuzzFill: nothing remains of a placeholder, and only a text with its defaults may be too long.
func FuzzFill(f *testing.F) {
	f.Add("Buy {KeyWord:Dark {sale} Chocolate} now", "dark chocolate", uint8(30))
	f.Add("{{keyword:a}{KEYWORD:b}}{", "straße", uint8(15))
	f.Add("{KeyWord:in {LOCATION(City)}}", "a{keyword:b}", uint8(90))
	f.Add("{IF(x):{KeyWord:x}", "ŉŉŉŉ", uint8(5))
	f.Fuzz(func(t *testing.T, text, keyword string, most uint8) {
		filled, in := placeholder.Fill(text, keyword, int(most))
		use := placeholder.Of(text)
		if left := placeholder.Default(text); in && filled != left {
			t.Fatalf("%q: %q, the default is %q", text, filled, left)
		}
		if use == placeholder.Plain && filled != text || use == placeholder.Other && filled != "" {
			t.Fatalf("%q of use %d: %q", text, use, filled)
		}
		if !in && use == placeholder.Keyword && utf8.RuneCountInString(filled) > int(most) {
			t.Fatalf("%q with %q has more than %d characters: %q", text, keyword, most, filled)
		}
		// "§" cannot be part of a placeholder's name, so any remaining braces are plain text.
		if again, _ := placeholder.Fill(text, "§", math.MaxInt); use == placeholder.Keyword && placeholder.Of(again) != placeholder.Plain {
			t.Fatalf("%q: %q still has a placeholder", text, again)
		}
	})
}
