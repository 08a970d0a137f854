package words

import (
	"slices"
	"strings"
	"testing"

	"adshard/fault"
)

func TestLanguages(t *testing.T) {
	for _, tt := range []struct{ list, codes, version string }{
		{"", "cs,en", "; en snowball 0.9.0 exceptions 2; cs light folded 1; xxh64"},
		{" English,Czech", "cs,en", "; en snowball 0.9.0 exceptions 2; cs light folded 1; xxh64"},
		{"cs", "cs", "; cs light folded 1; xxh64"},
		{"de_AT, cs,en,de", "cs,de,en", "; en snowball 0.9.0 exceptions 2; cs light folded 1; de snowball 0.9.0 exceptions 2; xxh64"},
	} {
		l, err := ParseLanguages(tt.list)
		if err != nil || l.String() != tt.codes || l.Version() != tables()+tt.version {
			t.Errorf("%q: %v of version %q, %v", tt.list, l, l.Version(), err)
		}
		if again, err := ParseLanguages(l.String()); again != l || err != nil {
			t.Errorf("%q: %v once more is %v, %v", tt.list, l, again, err)
		}
		for _, code := range Stemmed() {
			if l.Has(code) != slices.Contains(l.Codes(), code) {
				t.Errorf("%v has %s: %v", l, code, l.Has(code))
			}
		}
		if l.Has("pl") || l.Has("") {
			t.Errorf("%v has what is not in it", l)
		}
	}
	if all, err := ParseLanguages(strings.Join(Stemmed(), ",")); err != nil || !slices.Equal(all.Codes(), Stemmed()) {
		t.Errorf("all: %v, %v", all, err)
	}
}

// TestLanguagesRefused: names without a stemmer are refused with those that have one.
func TestLanguagesRefused(t *testing.T) {
	for _, list := range []string{"pl", "Slovak", "cs,,en", "klingon", "cs;en", ","} {
		if _, err := ParseLanguages(list); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), strings.Join(Stemmed(), ", ")) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

// TestLanguagesOfVersions: the languages of a version can be read from it, so that messages name them.
func TestLanguagesOfVersions(t *testing.T) {
	for _, list := range []string{"cs", "en", "cs,en", "cs,de,en", strings.Join(Stemmed(), ",")} {
		l, err := ParseLanguages(list)
		if err != nil {
			t.Fatal(err)
		}
		if got := LanguagesOf(l.Version()); got != l.String() {
			t.Errorf("of %s: %s", l, got)
		}
		said := Differ("slave-0", l.Version(), "this program", Default.Version())
		if l != Default && (!strings.Contains(said, "slave-0 has the languages "+l.String()+", ") || !strings.Contains(said, " has cs,en:")) {
			t.Errorf("%s: %s", l, said)
		}
	}
	if got := LanguagesOf("rules 1; cs x; xxh64"); got != "" {
		t.Errorf("of an older program: %s", got)
	}
}

func TestOtherLanguages(t *testing.T) {
	cs, err := ParseLanguages("cs")
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{
		cs.Version():        true,
		tables() + hashes:   true,
		Default.Version():   false, // the same
		tables():            false,
		"":                  false,
		"rules 1; x; xxh64": false,
		strings.Replace(cs.Version(), "rules 4", "rules 5", 1): false,
	} {
		if got := Default.OtherLanguages(version); got != want {
			t.Errorf("OtherLanguages(%q) = %v", version, got)
		}
		if said := Differ("slave-0", version, "this program", Default.Version()); strings.Contains(said, "the same `languages`") != want {
			t.Errorf("Differ(%q): %s", version, said)
		}
	}
}
