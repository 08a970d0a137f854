package words

import (
	"flag"
	"testing"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// candidate is a language with a stemmer, and the dictionary by which that is judged: a file of Debian's package
// hunspell-…, or "" if Debian has none that lists the forms of words.
type candidate struct {
	code, dictionary string
	capitalised      bool // nouns are
	stem             func(string) string
}

func candidates() []candidate {
	of := func(f func(*snowballstem.Env) bool) func(string) string { return snowball(f).stem }
	return []candidate{
		{"cs", "cs_CZ", false, stemCzech}, {"en", "en_US", false, of(english.Stem)},
		{"ar", "ar", false, of(arabic.Stem)}, {"da", "da_DK", false, of(danish.Stem)}, {"de", "de_DE", true, of(german.Stem)},
		{"es", "es_ES", false, of(spanish.Stem)}, {"fi", "", false, of(finnish.Stem)}, {"fr", "fr_FR", false, of(french.Stem)},
		{"ga", "", false, of(irish.Stem)}, {"hu", "hu_HU", false, of(hungarian.Stem)}, {"it", "it_IT", false, of(italian.Stem)},
		{"nl", "nl", false, of(dutch.Stem)}, {"no", "nb_NO", false, of(norwegian.Stem)}, {"pt", "pt_PT", false, of(portuguese.Stem)},
		{"ro", "ro_RO", false, of(romanian.Stem)}, {"ru", "ru_RU", false, of(russian.Stem)}, {"sv", "sv_SE", false, of(swedish.Stem)},
		{"ta", "", false, of(tamil.Stem)}, {"tr", "tr_TR", false, of(turkish.Stem)},
	}
}

// joining is how well a stemmer joins the forms of a word, and only these, in permille: means over words, so that those
// with many forms do not count more.
type joining struct {
	words  int
	joined float64 // pairs of forms of a word that have the same stem
	wrong  float64 // of the words with the stem of one of its forms, those that no word has as a form together with it
	bare   float64 // pairs of forms that are joined when one of them is typed without its diacritics
	lost   float64 // forms that differ from themselves when typed without diacritics
}

// judge measures a stemmer on one half of a dictionary's words.
func judge(entries []entry, half int, stem func(Word) string) (j joining) {
	classes, judged := make(map[string]map[string][]int), 0
	for i, e := range entries {
		for _, f := range e.forms {
			s := stem(f)
			if classes[s] == nil {
				classes[s] = make(map[string][]int)
			}
			classes[s][f.Fold] = append(classes[s][f.Fold], i)
		}
	}
	mates := 0
	for _, e := range entries {
		if e.half != half || len(e.forms) < 2 {
			continue
		}
		judged++
		n := len(e.forms)
		stems, bare, lost := make(map[string]int), make(map[string]int), 0
		for _, f := range e.forms {
			typed := stem(Word{f.Fold, f.Fold})
			stems[stem(f)]++
			bare[typed]++
			if typed != stem(f) {
				lost++
			}
		}
		same, crossed := 0, -(n - lost)
		for s, k := range stems {
			same += k * (k - 1)
			crossed += k * bare[s]
		}
		j.joined += float64(same) / float64(n*(n-1))
		j.bare += float64(crossed) / float64(n*(n-1))
		j.lost += float64(lost) / float64(n)
		if share, any := wrongOf(e, classes, stem); any {
			mates++
			j.wrong += share
		}
	}
	j.words = judged
	each := 1000 / float64(max(judged, 1))
	return joining{judged, j.joined * each, j.wrong * 1000 / float64(max(mates, 1)), j.bare * each, j.lost * each}
}

// wrongOf returns which part of the words with the same stem as a form of e have no dictionary word in common with it.
func wrongOf(e entry, classes map[string]map[string][]int, stem func(Word) string) (share float64, any bool) {
	all, wrong := 0, 0
	for _, f := range e.forms {
		class := classes[stem(f)]
		for other, of := range class {
			if other == f.Fold {
				continue
			}
			if all++; !meet(class[f.Fold], of) {
				wrong++
			}
		}
	}
	return float64(wrong) / float64(max(all, 1)), all > 0
}

var allRules = flag.Bool("rules", false, "judge all stemmers there are, by two rules")

// A language's stemmer joins at least half of the pairs of forms, and of what it joins no more is wrong than with English
// (docs/decisions/041-languages.md), both in permille and on each half of a dictionary.
const (
	leastJoined = 500
	mostWrong   = 211
)

// TestQuality judges the stemmers by Debian's dictionaries. With -rules it prints, for all stemmers there are, what two
// rules give: to stem the folded form, or to stem the word as it is written and fold the result.
func TestQuality(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for _, c := range candidates() {
		t.Run(c.code, func(t *testing.T) {
			own := stemmerOf(c.code).stem
			if c.dictionary == "" || !*allRules && (own == nil || c.code == "cs") {
				return // nothing to judge it by, not in use, or judged by TestCzechQuality
			}
			entries := readEntries(t, c.dictionary, c.capitalised)
			for half := range 2 {
				j := judge(entries, half, func(w Word) string { return c.stem(w.Fold) })
				t.Logf("%s half %d folded:   %5d words, joined %.1f %%, wrong %.1f %%", c.code, half, j.words, j.joined/10, j.wrong/10)
				if own != nil && c.code != "cs" && (j.joined < leastJoined || j.wrong > mostWrong) {
					t.Errorf("%s joins too few or too many words", c.code)
				}
				if !*allRules {
					continue
				}
				j = judge(entries, half, func(w Word) string { return folded(c.stem(w.Normalised)) })
				t.Logf("%s half %d unfolded: %5d words, joined %.1f %%, wrong %.1f %%; typed without diacritics joined %.1f %%, lost %.1f %%",
					c.code, half, j.words, j.joined/10, j.wrong/10, j.bare/10, j.lost/10)
			}
		})
	}
}
