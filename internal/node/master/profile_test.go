package master

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/fault"
	"adshard/search"
	"adshard/search/words"
)

// shipped reads a profile from deploy/profiles.
func shipped(t *testing.T, name string) search.Profile {
	t.Helper()
	p, err := readProfile("../../../deploy/profiles/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestShippedProfiles: the profiles match as the networks describe their match types, with the examples from their
// pages where there are any.
func TestShippedProfiles(t *testing.T) {
	for _, c := range []struct {
		profile string
		t       search.MatchType
		keyword string
		query   string
		matches bool
	}{
		{"google", search.Exact, "shoes for men", "men for shoes", true},
		{"google", search.Exact, "shoes for men", "red shoes for men", false},
		{"google", search.Phrase, "lawn mowing", "lawn mowing near me", true},
		{"google", search.Phrase, "lawn mowing", "companies mowing lawns", true},
		{"google", search.Phrase, "lawn mowing", "mowing a big lawn", false},
		{"google", search.Broad, "lawn mowing", "mowing a big lawn", true},
		{"microsoft", search.Exact, "contoso tea", "tea contoso", true},
		{"microsoft", search.Exact, "contoso tea", "contoso tea reviews", false},
		{"microsoft", search.Phrase, "contoso tea", "contoso tea near me", true},
		{"microsoft", search.Phrase, "contoso tea", "reviews of tea by contoso", true},
		{"microsoft", search.Phrase, "contoso tea", "where can i find the best tea", false},
		{"sklik", search.Exact, "levný míč", "levny mic", true},
		{"sklik", search.Exact, "levný míč", "mic levny", false},
		{"sklik", search.Phrase, "levný míč", "mic fotbalovy levny", true},
		{"sklik", search.Phrase, "levný míč", "fotbalový míč", false},
	} {
		q, err := search.Expand(c.query, search.Synonym, nil)
		if err != nil {
			t.Fatal(err)
		}
		var fits []search.Fit
		m := search.NewMatcher(q, shipped(t, c.profile))
		language := "en"
		if c.profile == "sklik" {
			language = "cs"
		}
		list, err := words.Split(c.keyword)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range list {
			fits = append(fits, m.Fit(words.Hash(w.Normalised), words.Hash(w.Fold), words.TermOf(language, w.Fold)))
		}
		if got := m.Level(c.t, fits) != search.NoLevel; got != c.matches {
			t.Errorf("%s, %s %q: %q matches %t, want %t", c.profile, c.t, c.keyword, c.query, got, c.matches)
		}
	}
}

// TestBroaderTypesMatchMore: in a shipped profile, each broader match type allows everything that a narrower one
// allows.
func TestBroaderTypesMatchMore(t *testing.T) {
	for _, name := range []string{"google", "microsoft", "sklik"} {
		p := shipped(t, name)
		for i := search.Exact; i < search.Broad; i++ {
			narrow, wide := p[i], p[i+1]
			if narrow.Others && !wide.Others || !narrow.Ordered && wide.Ordered || wide.Reach < narrow.Reach {
				t.Errorf("%s: %s does not take all that %s takes", name, i+1, i)
			}
		}
	}
}

// TestProfileFiles: a file that omits a setting or contains an unknown one is refused, and the error says what is
// wrong.
func TestProfileFiles(t *testing.T) {
	const whole = "exact: {other_words: false, order: true, adjacent: true, agrees_up_to: folded}\n" +
		"phrase: {other_words: true, order: true, adjacent: true, agrees_up_to: inflected}\n" +
		"broad: {other_words: true, order: false, adjacent: false, agrees_up_to: synonym}\n"
	file := filepath.Join(t.TempDir(), "profile.yaml")
	read := func(text string) (search.Profile, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return readProfile(file)
	}
	if p, err := read(whole); err != nil || p != search.DefaultProfile() {
		t.Fatalf("%+v, %v", p, err)
	}
	for text, want := range map[string]string{
		"": "broad is missing",
		strings.Replace(whole, "broad:", "wide:", 1):                          "there is no key wide",
		strings.Replace(whole, ", agrees_up_to: folded", "", 1):               "exact has no agrees_up_to",
		strings.Replace(whole, "order: true, adjacent: true, ", "", 1):        "exact has no order, adjacent",
		strings.Replace(whole, "agrees_up_to: folded", "agrees_up_to: no", 1): `"no"`,
		strings.Replace(whole, "order: true", "order: perhaps", 1):            `exact.order: "perhaps" is neither true nor false`,
		strings.Replace(whole, "order: true", "order: true, order: false", 1): "already",
		"\x00": "control characters",
	} {
		if _, err := read(text); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := readProfile(filepath.Join(t.TempDir(), "none.yaml")); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}
