package oracle

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/search/placeholder"
)

// TestPlaceholders: for texts with any braces, the fast parser of placeholders gives the same result as this package.
func TestPlaceholders(t *testing.T) {
	fragments := rapid.SampledFrom([]string{
		"{", "}", "{", "}", "keyword", "Keyword", "KeyWord", "KEYWord", "KEYWORD", "KeyWORD", ":", "{KeyWord:", "{keyword:", "{KEYWORD:", "(", ")", "=", ".", " ",
		"location(", "IF(", "COUNTDOWN(", "global_countdown", "CUSTOMIZER.", "param1:", "a", "Red Lamp", "ž", "{KeyWord:a {keyword:b}", "{Keyword:c}", "}}", "}",
	})
	keywords := rapid.SampledFrom([]string{"lamp", "Red LAMP", "usb-c kabel 3d", "10² straße", "žluťoučký kůň", "a keyword that is longer than a headline"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(fragments, 0, 14).Draw(t, "text"), "")
		keyword := keywords.Draw(t, "keyword")
		most := rapid.SampledFrom([]int{5, 15, 30, 90}).Draw(t, "most")
		want, wantIn := shown(text, keyword, most)
		got, in := placeholder.Fill(text, keyword, most)
		if placeholder.Blank(got) {
			got, in = "", false
		}
		if got != want || in != wantIn {
			t.Fatalf("%q with %q in %d: %q (%v), want %q (%v)", text, keyword, most, got, in, want, wantIn)
		}
		if there := !isLeftOut(text) && strings.TrimSpace(fill(text, nil)) != ""; placeholder.Shows([]string{text}) != there {
			t.Fatalf("%q: shows is %v, want %v", text, !there, there)
		}
	})
}
