package words

import (
	"strings"
	"testing"
)

// TestSpans: words lie where Split finds them, whatever their case and apostrophes, and whatever invisible
// characters they contain.
func TestSpans(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"!? -":                               "",
		"Dark CHOCOLATE":                     "Dark|CHOCOLATE",
		"USB-C cable 3D":                     "USB|C|cable|3D",
		"Men's MEN\u2019S o\u02bcneill 90's": "Men's|MEN\u2019S|o|neill|90|s",
		"I'D've l'Or\u00e9al":                "I|D've|l|Or\u00e9al",
		"head\u00adphones men\u00ad\u2019\u00adS x": "head\u00adphones|men\u00ad\u2019\u00adS|x",
		"Cafe\u0301 \u0301x \u0130zmir":             "Cafe\u0301|x|\u0130zmir",
	} {
		var got []string
		for _, s := range Spans(text) {
			got = append(got, strings.TrimRight(text[s.From:s.To], "\u00ad"))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
	}
}
