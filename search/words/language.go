package words

import (
	"slices"
	"strings"

	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/swedish"
)

// language is a row of the table of languages.
type language struct {
	code    string
	names   []string // and other codes, in lower case: what files and requests may call it; the first is the English name
	stemmer stemmer
}

// stemmer makes stems. Its version changes whenever any of them does.
type stemmer struct {
	version string
	stem    func(folded string) string // nil if there is none
}

// none says that a language has no stemmer: either there is none, or it joins too few or too many words
// (docs/decisions/041-languages.md).
var none stemmer

// languages are the languages of Google Ads, by code.
var languages = [...]language{
	{"ar", []string{"arabic"}, none},
	{"bg", []string{"bulgarian"}, none},
	{"bn", []string{"bengali"}, none},
	{"ca", []string{"catalan"}, none},
	{"cs", []string{"czech", "cz", "čeština", "česky"}, stemmer{czechVersion, stemCzech}},
	{"da", []string{"danish"}, snowball(danish.Stem)},
	{"de", []string{"german", "deutsch"}, except("de", snowball(german.Stem))},
	{"el", []string{"greek"}, none},
	{"en", []string{"english"}, except("en", snowball(english.Stem))},
	{"es", []string{"spanish", "español"}, none},
	{"et", []string{"estonian"}, none},
	{"fa", []string{"persian", "farsi"}, none},
	{"fi", []string{"finnish"}, none},
	{"fr", []string{"french", "français"}, none},
	{"gu", []string{"gujarati"}, none},
	{"he", []string{"hebrew", "iw"}, none},
	{"hi", []string{"hindi"}, none},
	{"hr", []string{"croatian"}, none},
	{"hu", []string{"hungarian"}, none},
	{"id", []string{"indonesian", "in"}, none},
	{"is", []string{"icelandic"}, none},
	{"it", []string{"italian", "italiano"}, none},
	{"ja", []string{"japanese"}, none},
	{"kn", []string{"kannada"}, none},
	{"ko", []string{"korean"}, none},
	{"lt", []string{"lithuanian"}, none},
	{"lv", []string{"latvian"}, none},
	{"ml", []string{"malayalam"}, none},
	{"mr", []string{"marathi"}, none},
	{"ms", []string{"malay"}, none},
	{"nl", []string{"dutch", "nederlands"}, none},
	{"no", []string{"norwegian", "nb", "nn"}, snowball(norwegian.Stem)},
	{"pa", []string{"punjabi"}, none},
	{"pl", []string{"polish", "polski"}, none},
	{"pt", []string{"portuguese", "português"}, none},
	{"ro", []string{"romanian"}, none},
	{"ru", []string{"russian"}, none},
	{"sk", []string{"slovak", "slovenčina"}, none},
	{"sl", []string{"slovenian", "slovene"}, none},
	{"sr", []string{"serbian"}, none},
	{"sv", []string{"swedish"}, except("sv", snowball(swedish.Stem))},
	{"ta", []string{"tamil"}, none},
	{"te", []string{"telugu"}, none},
	{"th", []string{"thai"}, none},
	{"tl", []string{"filipino", "fil", "tagalog"}, none},
	{"tr", []string{"turkish"}, none},
	{"uk", []string{"ukrainian"}, none},
	{"ur", []string{"urdu"}, none},
	{"vi", []string{"vietnamese"}, none},
	{"zh-cn", []string{"chinese (simplified)", "chinese simplified", "zh", "zh-hans"}, none},
	{"zh-tw", []string{"chinese (traditional)", "chinese traditional", "zh-hant"}, none},
}

// ParseLanguage reads a language's English name or code as Google Ads gives it ("English", "en",
// "en_US", "Chinese (simplified)"), without regard to case and outer white space, and returns its
// lower-case code. A code with a region gives the language without it, except for Chinese.
func ParseLanguage(name string) (code string, ok bool) {
	name = strings.ReplaceAll(casefold(strings.TrimSpace(name)), "_", "-")
	if code, ok := findLanguage(name); ok {
		return code, true
	}
	base, region, found := strings.Cut(name, "-")
	if !found || len(base) > 3 || len(region) < 2 || len(region) > 4 {
		return "", false
	}
	return findLanguage(base)
}

func findLanguage(name string) (string, bool) {
	for i := range languages {
		if l := &languages[i]; l.code == name || slices.Contains(l.names, name) {
			return l.code, true
		}
	}
	return "", false
}
