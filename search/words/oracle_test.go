package words

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// oracleSplit follows serving.md §1 word for word, without any shortcuts.
func oracleSplit(text string) ([]Word, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("invalid UTF-8")
	}
	text = strings.Map(func(r rune) rune {
		if r != 0x200b && oracleIgnorable(r) {
			return -1
		}
		return r
	}, text)
	run := 0
	for _, r := range decompose(text) {
		if run++; class(r) == 0 {
			run = 0
		}
		if run > 30 {
			return nil, fmt.Errorf("more than 30 non-starters")
		}
	}
	exact := form{exact: true}
	var folding strings.Builder
	for _, r := range exact.nfkc(text) {
		folding.WriteString(casefold(string(r)))
	}
	return oracleCut([]rune(strings.NewReplacer("\u2019", "'", "\u02bc", "'", "\uff07", "'").Replace(exact.nfkc(folding.String())))), nil
}

// oracleCut cuts from the end, so that it knows the end of a word when it reaches an apostrophe.
func oracleCut(text []rune) (out []Word) {
	end := -1 // end of the word that continues to the right, or -1 if there is none
	for i := len(text) - 1; i >= -1; i-- {
		in := i >= 0 && (unicode.In(text[i], unicode.L, unicode.N, unicode.M) || text[i] == '\'' && end > i+1 && oracleJoins(text[:i], text[i+1:end]))
		cut := end > i+1 && (!in || oracleUnspaced(text[:i+1]) != oracleUnspaced(text[:i+2]))
		if cut {
			word := strings.TrimLeftFunc(string(text[i+1:end]), unicode.IsMark)
			if word != "" {
				out = append(out, Word{word, oracleFold(word)})
			}
			end = -1
		}
		if in && end < 0 {
			end = i + 1
		}
	}
	slices.Reverse(out)
	return out
}

// oracleUnspaced reports whether the last character of text that is no mark is of a script without spaces.
func oracleUnspaced(text []rune) bool {
	for len(text) > 0 && unicode.Is(unicode.M, text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	if len(text) == 0 {
		return false
	}
	r := text[len(text)-1]
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		strings.ContainsRune("ー〆〼〱〲〳〴〵", r)
}

// oracleJoins reports whether an apostrophe joins: a letter, which may have marks, stands before
// it, and one of the listed endings follows.
func oracleJoins(before []rune, after []rune) bool {
	n := len(before)
	for n > 0 && unicode.Is(unicode.M, before[n-1]) {
		n--
	}
	return n > 0 && unicode.Is(unicode.L, before[n-1]) && !oracleUnspaced(before) && slices.Contains([]string{"s", "t", "d", "m", "ll", "re", "ve"}, string(after))
}

func oracleFold(word string) string {
	exact := form{exact: true}
	var b strings.Builder
	base := ' '
	for _, r := range exact.nfkd(word) {
		if !unicode.Is(unicode.M, r) {
			base = r
		}
		scripts := unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
		if r == '\'' || unicode.Is(unicode.Mn, r) && unicode.Is(unicode.L, base) && scripts {
			continue
		}
		b.WriteString(special.Replace(string(r)))
	}
	return exact.nfkc(b.String())
}

// oracleIgnorable lists Default_Ignorable_Code_Point of Unicode 15.0.0.
func oracleIgnorable(r rune) bool {
	for _, run := range [][2]rune{
		{0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F},
		{0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0},
		{0xFFF0, 0xFFF8}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
	} {
		if run[0] <= r && r <= run[1] {
			return true
		}
	}
	return false
}

// compare fails if Split or an Analyser differ from the oracle.
func compare(t interface{ Fatalf(string, ...any) }, a *Analyser, text string) {
	want, wantErr := oracleSplit(text)
	got, err := Split(text)
	if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
		t.Fatalf("Split(%+q) = %+q, %v; want %+q, %v", text, got, err, want, wantErr)
	}
	known, err := a.Split(text)
	if (err == nil) != (wantErr == nil) || len(known) != len(want) {
		t.Fatalf("Analyser.Split(%+q) = %d words, %v; want %d, %v", text, len(known), err, len(want), wantErr)
	}
	for i, w := range known {
		if w.Word != want[i] || w.Units != Units(want[i].Normalised) || w.Norm != Hash(want[i].Normalised) || w.FoldHash != Hash(want[i].Fold) {
			t.Fatalf("Analyser.Split(%+q): word %d is %+q, want %+q", text, i, w.Word, want[i])
		}
		for _, l := range []string{"", "de", "cs", "en"} {
			if a.Term(l, w) != TermOf(l, want[i].Fold) {
				t.Fatalf("Analyser.Term(%q, %+q) is not TermOf", l, w.Fold)
			}
		}
	}
	checkWords(t, got)
}

// checkWords checks what others rely on: a word is split into one word again, which is the same,
// and so is its folded form. Both are valid and never empty.
func checkWords(t interface{ Fatalf(string, ...any) }, ws []Word) {
	for _, w := range ws {
		if w.Normalised == "" || w.Fold == "" || !utf8.ValidString(w.Normalised) || !utf8.ValidString(w.Fold) {
			t.Fatalf("word %+q", w)
		}
		again, err := Split(w.Normalised)
		if err != nil || len(again) != 1 || again[0] != w {
			t.Fatalf("Split(%+q) = %+q, %v; want the same word", w.Normalised, again, err)
		}
		checkUnits(t, w)
		for _, l := range Stemmed() {
			if stem, ok := Stem(l, w.Fold); !ok || stem == "" || !utf8.ValidString(stem) {
				t.Fatalf("Stem(%s, %+q) = %+q, %v", l, w.Fold, stem, ok)
			}
		}
	}
}

// checkUnits checks what matching relies on: only runs have several units, a run is its own folded form, and any part
// of it from cut to cut that is a word has the same units.
func checkUnits(t interface{ Fatalf(string, ...any) }, w Word) {
	units := AppendUnits(nil, w.Normalised)
	if strings.Join(units, "") != w.Normalised || len(units) != Units(w.Normalised) || !IsRun(w.Normalised) && len(units) != 1 {
		t.Fatalf("%+q has the units %+q", w.Normalised, units)
	}
	if !IsRun(w.Normalised) {
		return
	}
	if w.Fold != w.Normalised {
		t.Fatalf("the folded form of %+q is %+q", w.Normalised, w.Fold)
	}
	for from := range units {
		for to := from + 1; to <= min(len(units), from+4); to++ {
			part, err := Split(strings.Join(units[from:to], ""))
			if err == nil && len(part) == 1 && !slices.Equal(AppendUnits(nil, part[0].Normalised), units[from:to]) {
				t.Fatalf("%+q, a part of %+q, has the units %+q", units[from:to], units, AppendUnits(nil, part[0].Normalised))
			}
		}
	}
}

// TestEveryRune compares each character alone and within a word. Of the many ideographs and Hangul
// syllables it compares every 16th.
func TestEveryRune(t *testing.T) {
	var a Analyser
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0x3400 && r%16 != 0 && unicode.In(r, unicode.Han, unicode.Hangul) {
			continue
		}
		if unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf) {
			compare(t, &a, "xé"+string(r)+"o\u0301 "+string(r))
		}
	}
}

// corners are pieces of text that are hard to normalise.
var corners = []string{
	"a", "B", "é", "e\u0301", "o\u0308", "\u0301", "\u0323", "\u0345", "ß", "ẞ", "ſ", "İ", "ı", "ŉ", "ǰ", "ΐ", "ᾳ", "ᾼ", "Σ", "ς",
	"ﬁ", "ﬃ", "½", "²", "Å", "K", "ﷺ", "㍿", "Ꮳ", "ꮳ", "ᏸ", "한", "\u1112", "\u1161", "\u11ab", "\u11a8", "か", "\u3099", "\uff9e",
	"\u0cc6", "\u0cc2", "\u0cd5", "\u0dd9", "\u0dcf", "\u0dca", "\u093c", "\u0958", "\u0f71", "\u0f72", "\u0f73", "\u0f75", "\u0f81",
	"\u034f", "\u200d", "\u00ad", "\ufe0f", "\u20e3", " ", "-", "ø", "Ł", "đ", "ħ", "ŧ", "ð", "æ", "œ", "þ", "ǽ", "ǿ", "ʼ", "1", "٣",
	"'", "\u2019", "s", "t", "ll", "re", "ve", "\u200b", "\u3164", "\u115f", "ば", "ม้", "שׁ", "بَ", "\U0001d15e", "\U0001d7d8", "\u1e9b\u0323", "\u2126", "\ufb2c", "\U000110a5", "\U000110ba", "x", "z",
	"手", "机", "々", "ー", "カ", "ｶ", "ゝ", "〆", "โ", "ง", "ำ", "๑", "ລ", "ກ", "ក", "្", "ម", "န", "်", "ာ", "၁", "〇",
}

func TestSplitIsTheOracle(t *testing.T) {
	var a Analyser
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			piece := rapid.SampledFrom(corners).Draw(t, "piece")
			b.WriteString(strings.Repeat(piece, rapid.SampledFrom([]int{1, 1, 1, 2, 14, 29, 30, 31}).Draw(t, "times")))
		}
		compare(t, &a, b.String())
	})
}

func TestAnalyserIsBounded(t *testing.T) {
	var a Analyser
	for i := range 3 * analyserWords {
		if _, err := a.Split(fmt.Sprint("w", i, " usb")); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(a.young) + len(a.old); n > 2*analyserWords {
		t.Errorf("the analyser keeps %d words", n)
	}
}

func TestAnalyserAllocates(t *testing.T) {
	var a Analyser
	const text = "USB Cable for žluťoučký kůň"
	n := testing.AllocsPerRun(100, func() {
		if _, err := a.Keyword(text); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for a keyword of known words", n)
	}
}

func FuzzSplit(f *testing.F) {
	for _, c := range corners {
		f.Add(c + "a" + c)
	}
	f.Add("caf\xc3")
	f.Add(strings.Repeat("\u0301", 31))
	var a Analyser
	f.Fuzz(func(t *testing.T, text string) { compare(t, &a, text) })
}

// FuzzStem stems any string, even one that Split never returns.
func FuzzStem(f *testing.F) {
	f.Add("hracek")
	f.Add("'s")
	f.Add("한ec")
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			for _, l := range Stemmed() {
				if s, _ := Stem(l, text); !utf8.ValidString(s) {
					t.Fatalf("Stem(%s, %+q) = %+q", l, text, s)
				}
			}
		}
	})
}
