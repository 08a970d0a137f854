package placeholder_test

import (
	"testing"

	"adshard/search/placeholder"
)

// TestCapitals: each spelling of a placeholder requests its own capitalisation.
func TestCapitals(t *testing.T) {
	for _, c := range []struct{ keyword, small, first, words, firstWord, all string }{
		{"dark chocolate", "dark chocolate", "Dark chocolate", "Dark Chocolate", "DARK Chocolate", "DARK CHOCOLATE"},
		{"Dark CHOCOLATE", "dark chocolate", "Dark chocolate", "Dark Chocolate", "DARK Chocolate", "DARK CHOCOLATE"},
		{"usb-c cable", "usb-c cable", "Usb-c cable", "Usb-C Cable", "USB-C Cable", "USB-C CABLE"},
		{"men's shoes", "men's shoes", "Men's shoes", "Men's Shoes", "MEN'S Shoes", "MEN'S SHOES"},
		{"men’s o’neill", "men’s o’neill", "Men’s o’neill", "Men’s O’Neill", "MEN’S O’Neill", "MEN’S O’NEILL"},
		{"3d printer", "3d printer", "3D printer", "3D Printer", "3D Printer", "3D PRINTER"},
		{"5 lamps 4 you", "5 lamps 4 you", "5 Lamps 4 you", "5 Lamps 4 You", "5 Lamps 4 You", "5 LAMPS 4 YOU"},
		{"příliš žluťoučký", "příliš žluťoučký", "Příliš žluťoučký", "Příliš Žluťoučký", "PŘÍLIŠ Žluťoučký", "PŘÍLIŠ ŽLUŤOUČKÝ"},
		{"straße ßx", "straße ßx", "Straße ßx", "Straße Ssx", "STRASSE Ssx", "STRASSE SSX"},
		{"ΟΔΟΣ ǆ", "οδος ǆ", "Οδος ǆ", "Οδος ǅ", "ΟΔΟΣ ǅ", "ΟΔΟΣ Ǆ"},
		{"head\u00adphones x", "head\u00adphones x", "Head\u00adphones x", "Head\u00adphones X", "HEAD\u00adPHONES X", "HEAD\u00adPHONES X"},
		{" e\u0301t\u00e9 (new)", " e\u0301t\u00e9 (new)", " E\u0301t\u00e9 (new)", " E\u0301t\u00e9 (New)", " E\u0301T\u00c9 (New)", " E\u0301T\u00c9 (NEW)"},
		{"バス ม้า", "バス ม้า", "バス ม้า", "バス ม้า", "バス ม้า", "バス ม้า"},
	} {
		for name, want := range map[string]string{"keyword": c.small, "Keyword": c.first, "KeyWord": c.words, "KEYWord": c.firstWord, "KEYWORD": c.all} {
			if got, in := placeholder.Fill("{"+name+":x}", c.keyword, 30); got != want || in {
				t.Errorf("%s of %q: %q, want %q", name, c.keyword, got, want)
			}
		}
	}
}

// TestFill checks which texts are filled, and with what.
func TestFill(t *testing.T) {
	const keyword = "dark chocolate"
	for _, c := range []struct {
		text, want string
		use        placeholder.Use
		in         bool
	}{
		{"Plain", "Plain", placeholder.Plain, false},
		{"Buy {KeyWord:Sweets} now", "Buy Dark Chocolate now", placeholder.Keyword, false},
		{"{keyword:a} & {KEYWORD:b}", "a & b", placeholder.Keyword, true}, // 31 characters
		{"{keyword:a}&{KEYWORD:b}", "dark chocolate&DARK CHOCOLATE", placeholder.Keyword, false},
		{"1234567890123456{keyword:x}", "1234567890123456dark chocolate", placeholder.Keyword, false},
		{"12345678901234567{keyword:x}", "12345678901234567x", placeholder.Keyword, true},
		{"žžžžžžžžžžžžžžžž{keyword:x}", "žžžžžžžžžžžžžžžždark chocolate", placeholder.Keyword, false},
		{"12345678901234567{keyword:A Default as LONG as it is}", "12345678901234567A Default as LONG as it is", placeholder.Keyword, true},
		{"Buy {KeyWord:}", "Buy Dark Chocolate", placeholder.Keyword, false},
		{"12345678901234567 {KeyWord:}", "12345678901234567 ", placeholder.Keyword, true},
		{"{KeyWord:a:b}12345678901234567", "a:b12345678901234567", placeholder.Keyword, true},
		{"{KeyWord: a }12345678901234567", " a 12345678901234567", placeholder.Keyword, true},
		{"{KeyWord:a{b}}12345678901234567", "a{b}12345678901234567", placeholder.Keyword, true},
		{"{{keyword:x}}", "{dark chocolate}", placeholder.Keyword, false},
		{"a{b {keyword:x}", "a{b dark chocolate", placeholder.Keyword, false},
		{"} {keyword:x} }", "} dark chocolate }", placeholder.Keyword, false},
		// Another spelling, and placeholders that cannot be filled.
		{"{KeyWORD:x}", "", placeholder.Other, false},
		{"{kEYWORD:x}", "", placeholder.Other, false},
		{"{ KeyWord:x}", "", placeholder.Other, false},
		{"{KeyWord :x}", "", placeholder.Other, false},
		{"{KeyWord}", "", placeholder.Other, false},
		{"{ keyword }", "", placeholder.Other, false},
		{"{KeyWord:{KeyWord:x}}", "", placeholder.Other, false},
		{"{KeyWord:in {LOCATION(City)}}", "", placeholder.Other, false},
		{"{KeyWord:x} in {LOCATION(City)}", "", placeholder.Other, false},
		{"{LOCATION(City):here} {KeyWord:x}", "", placeholder.Other, false},
		{"{IF(device=mobile,{KeyWord:x}):y}", "", placeholder.Other, false},
		{"Ends in {COUNTDOWN(2026/12/01 00:00:00,5)}", "", placeholder.Other, false},
		{"{GLOBAL_COUNTDOWN(2026/12/01)}", "", placeholder.Other, false},
		{"From {CUSTOMIZER.Price:10}", "", placeholder.Other, false},
		{"{=Feed.Price}", "", placeholder.Other, false},
		{"{=IF(device=mobile,a):b}", "", placeholder.Other, false},
		{"{param1:10} left", "", placeholder.Other, false},
		{"a {b {if(device=mobile):c}} d", "", placeholder.Other, false},
		// Text.
		{"{}", "{}", placeholder.Plain, false},
		{"{sale}", "{sale}", placeholder.Plain, false},
		{"{keywords:x}", "{keywords:x}", placeholder.Plain, false},
		{"{key word:x}", "{key word:x}", placeholder.Plain, false},
		{"{location:here} {if} {price=10} {x.CUSTOMIZER.y}", "{location:here} {if} {price=10} {x.CUSTOMIZER.y}", placeholder.Plain, false},
		{"{KeyWord:x", "{KeyWord:x", placeholder.Plain, false},
		{"KeyWord:x}", "KeyWord:x}", placeholder.Plain, false},
		{"{LOCATION(City)", "{LOCATION(City)", placeholder.Plain, false},
	} {
		got, in := placeholder.Fill(c.text, keyword, placeholder.MostHeadline)
		if use := placeholder.Of(c.text); got != c.want || in != c.in || use != c.use {
			t.Errorf("%s: %q (default %v, use %d), want %q (%v, %d)", c.text, got, in, use, c.want, c.in, c.use)
		}
	}
}

// TestLimits: a filled text may be exactly as long as Google allows.
func TestLimits(t *testing.T) {
	for most, at := range map[int]string{placeholder.MostHeadline: "headline", placeholder.MostDescription: "description", placeholder.MostPath: "path"} {
		text := func(n int) (s string) {
			for range n {
				s += "é"
			}
			return s
		}
		if got, in := placeholder.Fill("{keyword:x}", text(most), most); got != text(most) || in {
			t.Errorf("%s of %d: %q", at, most, got)
		}
		if got, in := placeholder.Fill("{keyword:x}", text(most+1), most); got != "x" || !in {
			t.Errorf("%s of %d: %q", at, most+1, got)
		}
	}
	if got, in := placeholder.Fill("{KEYWORD:x}", "ßßßßßßßßßßßßßßßß", 30); got != "x" || !in {
		t.Errorf("what becomes longer in capitals: %q", got)
	}
}

// TestShows: whether an ad exists depends only on its texts.
func TestShows(t *testing.T) {
	for _, c := range []struct {
		headlines []string
		want      bool
	}{
		{nil, false},
		{[]string{"", " "}, false},
		{[]string{"a"}, true},
		{[]string{"{KeyWord:a}"}, true},
		{[]string{"{KeyWord:}"}, false},
		{[]string{"{LOCATION(City)}", "{KeyWord: }"}, false},
		{[]string{"{LOCATION(City)}", "a"}, true},
	} {
		if got := placeholder.Shows(c.headlines); got != c.want {
			t.Errorf("%q: %v", c.headlines, got)
		}
	}
	list := []string{"a", " ", "{LOCATION(City)}", "{KeyWord:b}", "{=x}", "{c}"}
	if left := placeholder.Left(list); len(left) != 3 || left[1] != "{KeyWord:b}" || left[2] != "{c}" || list[2] != "{LOCATION(City)}" {
		t.Errorf("left are %q of %q", left, list)
	}
}
