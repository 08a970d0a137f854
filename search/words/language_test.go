package words

import "testing"

func TestParseLanguage(t *testing.T) {
	for _, tt := range []struct{ name, code string }{
		{"English", "en"}, {"en", "en"}, {"EN", "en"}, {" czech\u00a0", "cs"}, {"CS", "cs"}, {"Čeština", "cs"},
		{"en_US", "en"}, {"en-GB", "en"}, {"cs-CZ", "cs"}, {"German", "de"}, {"Chinese (simplified)", "zh-cn"},
		{"Chinese (Traditional)", "zh-tw"}, {"zh_CN", "zh-cn"}, {"zh-Hant", "zh-tw"}, {"iw", "he"}, {"Filipino", "tl"},
		{"Portuguese", "pt"}, {"pt_BR", "pt"}, {"nb", "no"},
		{"", ""}, {"Klingon", ""}, {"en-", ""}, {"en-x", ""}, {"english-us", ""}, {"[]", ""}, {"xx-YY", ""},
	} {
		code, ok := ParseLanguage(tt.name)
		if code != tt.code || ok != (tt.code != "") {
			t.Errorf("ParseLanguage(%q) = %q, %v; want %q", tt.name, code, ok, tt.code)
		}
	}
	seen := make(map[string]bool)
	for i, l := range languages {
		if i > 0 && languages[i-1].code >= l.code {
			t.Errorf("%s stands behind %s", l.code, languages[i-1].code)
		}
		for _, n := range append([]string{l.code}, l.names...) {
			if seen[n] || casefold(n) != n {
				t.Errorf("%q stands twice or is not folded", n)
			}
			seen[n] = true
		}
	}
}
