package words

import "strings"

// languageNames are the languages of Google Ads: the code, then the names and other codes that a
// file may use for it.
var languageNames = [][]string{
	{"ar", "arabic"}, {"bg", "bulgarian"}, {"bn", "bengali"}, {"ca", "catalan"},
	{"cs", "czech", "cz", "čeština", "česky"}, {"da", "danish"}, {"de", "german", "deutsch"},
	{"el", "greek"}, {"en", "english"}, {"es", "spanish", "español"}, {"et", "estonian"},
	{"fa", "persian", "farsi"}, {"fi", "finnish"}, {"fr", "french", "français"},
	{"gu", "gujarati"}, {"he", "hebrew", "iw"}, {"hi", "hindi"}, {"hr", "croatian"},
	{"hu", "hungarian"}, {"id", "indonesian", "in"}, {"is", "icelandic"}, {"it", "italian", "italiano"},
	{"ja", "japanese"}, {"kn", "kannada"}, {"ko", "korean"}, {"lt", "lithuanian"},
	{"lv", "latvian"}, {"ml", "malayalam"}, {"mr", "marathi"}, {"ms", "malay"},
	{"nl", "dutch", "nederlands"}, {"no", "norwegian", "nb", "nn"}, {"pa", "punjabi"},
	{"pl", "polish", "polski"}, {"pt", "portuguese", "português"}, {"ro", "romanian"},
	{"ru", "russian"}, {"sk", "slovak", "slovenčina"}, {"sl", "slovenian", "slovene"},
	{"sr", "serbian"}, {"sv", "swedish"}, {"ta", "tamil"}, {"te", "telugu"}, {"th", "thai"},
	{"tl", "filipino", "fil", "tagalog"}, {"tr", "turkish"}, {"uk", "ukrainian"}, {"ur", "urdu"},
	{"vi", "vietnamese"}, {"zh-cn", "chinese (simplified)", "chinese simplified", "zh", "zh-hans"},
	{"zh-tw", "chinese (traditional)", "chinese traditional", "zh-hant"},
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
	for _, names := range languageNames {
		for _, n := range names {
			if n == name {
				return names[0], true
			}
		}
	}
	return "", false
}
