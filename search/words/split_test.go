package words

import (
	"strings"
	"testing"

	"adshard/fault"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ text, normalised, folds string }{
		{"", "", ""},
		{"!? -- \u0301", "", ""},
		{"USB-C Cable", "usb c cable", "usb c cable"},
		{"ﬁlter", "filter", "filter"},
		{"½ inch", "1 2 inch", "1 2 inch"},
		{"10²", "102", "102"},
		{"Straße STRAẞE", "strasse strasse", "strasse strasse"},
		{"ΟΔΟΣ οδος", "οδοσ οδοσ", "οδοσ οδοσ"},
		{"İzmir", "i\u0307zmir", "izmir"},
		{"kapı", "kapı", "kapi"},
		{"Příliš žluťoučký KŮŇ", "příliš žluťoučký kůň", "prilis zlutoucky kun"},
		{"pr\u030ci\u0301lis\u030c", "příliš", "prilis"},
		{"smørrebrød Łódź", "smørrebrød łódź", "smorrebrod lodz"},
		{"Æther ǣon ǿre", "æther ǣon ǿre", "aether aeon ore"},
		{"þing œuvre đak ħal ŧest ðel", "þing œuvre đak ħal ŧest ðel", "thing oeuvre dak hal test del"},
		{"co\u00adop head\u00adphones", "coop headphones", "coop headphones"},
		{"z\u200dw\u200cj\ufeff", "zwj", "zwj"},
		{"zero\u200bwidth", "zero width", "zero width"},
		{"5️⃣ star", "5\u20e3 star", "5\u20e3 star"},
		{"\u3164 \u115f\u00ad", "", ""},
		{"a\u034f\u0323\u0301", "ạ\u0301", "a"},
		{"ᠠ\u180bᠠ", "ᠠᠠ", "ᠠᠠ"},
		{"men's MEN\u2019S men\u02bcs men\uff07s", "men's men's men's men's", "mens mens mens mens"},
		{"we're we'll we've I'm I'd don't", "we're we'll we've i'm i'd don't", "were well weve im id dont"},
		{"o'neill rock'n'roll l'eau dogs' 'tis '", "o neill rock n roll l eau dogs tis", "o neill rock n roll l eau dogs tis"},
		{"90's men's5 men's\u0301 men\u00ad's men'\u00ads", "90 s men s5 men ś men's men's", "90 s men s5 men s mens mens"},
		{"men's-wear men'sx men's' 's", "men's wear men sx men's s", "mens wear men sx mens s"},
		{"i'd've a's's't x's'y", "i d've a's s't x's y", "i dve as st xs y"},
		{"cafe\u0301's x\u0303's п'ять п\u02bcять мама's", "café's x\u0303's п ять п ять мама's", "cafes xs п ять п ять мамаs"},
		{"x\u0301 \u0301 y", "x\u0301 y", "x y"},
		{"한국", "한국", "한국"},
		{"がく", "がく", "がく"},
		{"ｶﾞｽ", "ガス", "ガス"},
		{"バス パス ハス", "バス パス ハス", "バス パス ハス"},
		{"ม้า มา", "ม้า มา", "ม้า มา"},
		{"हिन्दी", "हिन्दी", "हिन्दी"},
		{"שָׁלוֹם كِتَاب й ё ά", "שָׁלוֹם كِتَاب й ё ά", "שלום كتاب и е α"},
		{"1\u0308 1a\u0308", "1\u0308 1ä", "1\u0308 1a"},
		{"٣ bits ↂ ൰", "٣ bits ↂ ൰", "٣ bits ↂ ൰"},
		{"手机壳 iPhone15手机壳x", "手机壳 iphone15 手机壳 x", "手机壳 iphone15 手机壳 x"},
		{"3月5日 第2、〆切", "3 月 5 日 第 2 〆切", "3 月 5 日 第 2 〆切"},
		{"ﾗｰﾒﾝ屋 らーめん･ﾗｰﾒﾝ", "ラーメン屋 らーめん ラーメン", "ラーメン屋 らーめん ラーメン"},
		{"手's men's手 カ\u3099x\u0301", "手 s men's 手 ガ x\u0301", "手 s mens 手 ガ x"},
		{"ภาษาไทย๑๒ usbពណ៌ မြန်မာ한국", "ภาษาไทย๑๒ usb ពណ៌ မြန်မာ 한국", "ภาษาไทย๑๒ usb ពណ៌ မြန်မာ 한국"},
		{"Ŀl ĳ ŉ ª", "l l ij n a", "l l ij n a"},
		{"ΤΑΪ́ΖΩ", "ταΐζω", "ταιζω"},
		{"tab\tnl\n\u3000wide\x00nul", "tab nl wide nul", "tab nl wide nul"},
	} {
		got, err := Split(tt.text)
		normalised, folds := join(got)
		if err != nil || normalised != tt.normalised || folds != tt.folds {
			t.Errorf("Split(%+q) = %+q, %+q, %v; want %+q, %+q", tt.text, normalised, folds, err, tt.normalised, tt.folds)
		}
		if len(got) == 0 && got != nil {
			t.Errorf("Split(%+q): no word, but not nil", tt.text)
		}
	}
}

func join(ws []Word) (normalised, folds string) {
	var n, f []string
	for _, w := range ws {
		n, f = append(n, w.Normalised), append(f, w.Fold)
	}
	return strings.Join(n, " "), strings.Join(f, " ")
}

func TestSplitRefuses(t *testing.T) {
	marks := func(n int) string { return strings.Repeat("\u0301", n) }
	for _, tt := range []struct {
		name, text, want string
	}{
		{"invalid UTF-8", "abc \xff", "not valid UTF-8"},
		{"half a character", "caf\xc3", "not valid UTF-8"},
		{"invalid before marks", "a" + marks(31) + "\xff", "not valid UTF-8"},
		{"31 marks", "zbl" + marks(31), "non-starters"},
		{"a composed letter and 30 marks", "zcá" + marks(30), "non-starters"},
		{"31 marks that fold to a letter", "a" + strings.Repeat("\u0345", 31), "non-starters"},
		{"31 marks without a letter", marks(31), "non-starters"},
		{"31 marks with an ignorable character among them", "a" + marks(16) + "\u034f" + marks(15), "non-starters"},
	} {
		got, err := Split(tt.text)
		if got != nil || !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Split = %v, %v; want an invalid fault with %q", tt.name, got, err, tt.want)
		}
	}
	for _, text := range []string{"zal" + marks(30), "á" + marks(29), "a" + marks(30) + "b" + marks(30)} {
		if _, err := Split(text); err != nil {
			t.Errorf("Split(%+q): %v", text, err)
		}
	}
}

func TestKeyword(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		words      int
		want       string // part of the error, or "" for no error
	}{
		{"ten words", "one two three four five six seven eight nine ten", 10, ""},
		{"eleven words", "one two three four five six seven eight nine ten eleven", 0, "more than 10 words"},
		{"eleven by an apostrophe", "m1 m2 m3 m4 m5 m6 m7 m8 m9 o\u02bcneill", 0, "more than 10 words"},
		{"ten with one that joins", "m1 m2 m3 m4 m5 m6 m7 m8 m9 men\u02bcs", 10, ""},
		{"ignorable characters alone", "\u3164\u00ad", 0, "no word"},
		{"eleven by compatibility", "m1 m2 m3 m4 m5 m6 m7 m8 m9 ½", 0, "more than 10 words"},
		{"80 code points", strings.Repeat("é", 80), 1, ""},
		{"81 code points", strings.Repeat("é", 81), 0, "more than 80 characters"},
		{"outer white space does not count", "\u2003 " + strings.Repeat("x", 80) + " \u3000", 1, ""},
		{"80 of two code points each", strings.Repeat("e\u0301", 41), 0, "more than 80 characters"},
		{"no word", "!!! \u0301", 0, "no word"},
		{"empty", "", 0, "no word"},
		{"a run is one word", "b1 b2 b3 b4 b5 b6 b7 b8 b9 手机壳", 10, ""},
		{"eleven by a run", "b1 b2 b3 b4 b5 b6 b7 b8 b9 b手机壳", 0, "more than 10 words"},
		{"40 units", strings.Repeat("手", 39) + " x", 2, ""},
		{"41 units", strings.Repeat("手", 40) + " x", 0, "41 units"},
		{"katakana is one unit", strings.Repeat("カ", 80), 1, ""},
		{"invalid and long", strings.Repeat("\xff", 100), 0, "not valid UTF-8"},
	} {
		got, err := Keyword(tt.text)
		if len(got) != tt.words {
			t.Errorf("%s: %d words, want %d", tt.name, len(got), tt.words)
		}
		if tt.want == "" && err == nil {
			continue
		}
		if tt.want == "" || !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want an invalid fault with %q", tt.name, err, tt.want)
		}
	}
}

// TestUnits pins what UAX 29 makes of each script.
func TestUnits(t *testing.T) {
	for word, want := range map[string]string{
		"usb": "usb", "men's": "men's", "手机壳": "手|机|壳", "人々": "人|々", "スマホケース": "スマホケース",
		"らーめん": "ら|ー|め|ん", "ｶ\uff9e": "ｶ\uff9e", "東京タワー前": "東|京|タワー|前", "เครื่อง": "เ|ค|รื่|อ|ง",
		"ไทย๑๒": "ไ|ท|ย|๑๒", "ພາສາ": "ພ|າ|ສ|າ", "ខ្មែរ": "ខ្|មែ|រ", "မြန်မာ": "မြ|န်|မာ", "한국": "한국", "ᠠ": "ᠠ",
	} {
		if got := strings.Join(AppendUnits(nil, word), "|"); got != want || Units(word) != 1+strings.Count(want, "|") {
			t.Errorf("AppendUnits(%q) = %q of %d, want %q", word, got, Units(word), want)
		}
	}
}
