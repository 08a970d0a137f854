package words

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// TestVersion: a change of anything that a version names needs a higher version of the rules.
func TestVersion(t *testing.T) {
	const want = "rules 4; unicode 15.0.0/15.0.0; uax29 2.7.0; en snowball 0.9.0 exceptions 2; cs light folded 1; xxh64"
	if got := Version(); got != want {
		t.Errorf("the version is %q, not %q: raise rules with any change of it", got, want)
	}
}

// TestSegmenter: another version of the module may cut runs elsewhere, so it needs another version of words.
func TestSegmenter(t *testing.T) {
	modules, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(segmenter, " ")
	if !strings.Contains(string(modules), "github.com/clipperhouse/uax29/v2 v"+version+"\n") {
		t.Errorf("go.mod has another version than %s: raise rules", segmenter)
	}
}

func TestOlder(t *testing.T) {
	for version, want := range map[string]bool{
		"unicode 15.0.0/15.0.0; en snowball 0.9.0; cs light folded 1; xxh64":                       true, // of a program from before the rules had a number
		"rules 1; unicode 15.0.0/15.0.0":                                                           true,
		"rules 2; unicode 15.0.0/15.0.0; en snowball 0.9.0; cs light folded 1; xxh64":              true,
		"rules 3; unicode 15.0.0/15.0.0; uax29 2.7.0; en snowball 0.9.0; cs light folded 1; xxh64": true,
		Version():                        false,
		"rules 4; unicode 99":            false, // it is unknown which of the two is older
		"rules 5; unicode 15.0.0/15.0.0": false,
		"rules 0; ":                      false,
		"rules -1; x":                    false,
		"rules 1":                        false,
		"rules x; y":                     false,
		"":                               false,
		"damaged":                        false,
	} {
		if got := Older(version); got != want {
			t.Errorf("Older(%q) = %v", version, got)
		}
	}
}

// TestIgnorable compares the derivation with the list of Unicode 15.0.0, and checks that no other
// character becomes an ignorable one.
func TestIgnorable(t *testing.T) {
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if want := oracleIgnorable(r) && r != 0x200b; isIgnorable(r) != want {
			t.Errorf("isIgnorable(%U) = %v", r, !want)
		}
		if isIgnorable(r) {
			n++
			continue
		}
		for _, made := range norm.NFKC.String(casefold(norm.NFKC.String(string(r)))) {
			if isIgnorable(made) {
				t.Errorf("%U becomes %U, which is ignorable", r, made)
			}
		}
	}
	if n != 4173 {
		t.Errorf("%d ignorable characters, want 4173", n)
	}
}

// TestScriptsThatFold goes through all marks: a mark after a letter of the five scripts is dropped;
// after a letter of any other script it stays.
func TestScriptsThatFold(t *testing.T) {
	bases := map[string]bool{"z": true, "ω": true, "ж": true, "ש": true, "ب": true,
		"ハ": false, "ก": false, "क": false, "ᄀ": false, "ა": false, "ա": false, "7": false, "ー": false}
	for r := rune(0x300); r <= unicode.MaxRune; r++ {
		if !unicode.Is(unicode.Mn, r) || isIgnorable(r) || casefold(string(r)) != string(r) {
			continue // U+0345 becomes a letter
		}
		for base, dropped := range bases {
			word := norm.NFKC.String(base + string(r))
			ws, err := Split(word)
			if err != nil || len(ws) != 1 {
				t.Fatalf("Split(%+q) = %v, %v", word, ws, err)
			}
			if got := ws[0].Fold == base; got != dropped {
				t.Errorf("%U behind %q: folded %+q", r, base, ws[0].Fold)
			}
		}
	}
}
