package words

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// quality is how well a stemmer joins the forms of a word, and only these.
type quality struct {
	pairs, joined int // pairs of forms of one paradigm; how many of these have the same stem
	all, wrong    int // pairs of words with the same stem; how many of these have no common paradigm
}

// measure stems the paradigms of nouns and adjectives, or of verbs, as far as their forms are in
// the vocabulary. A nil vocabulary has all forms.
func measure(ps []paradigm, stem func(string) string, verbs bool, vocabulary map[string]bool) quality {
	var q quality
	classes := make(map[string]map[string][]int) // stem, form, paradigms
	for i, p := range ps {
		if p.verb != verbs {
			continue
		}
		stems, n := make(map[string]int), 0
		for _, f := range p.forms {
			if vocabulary != nil && !vocabulary[f] {
				continue
			}
			n++
			s := stem(f)
			stems[s]++
			if classes[s] == nil {
				classes[s] = make(map[string][]int)
			}
			classes[s][f] = append(classes[s][f], i)
		}
		q.pairs += n * (n - 1) / 2
		for _, n := range stems {
			q.joined += n * (n - 1) / 2
		}
	}
	for _, forms := range classes {
		q.count(forms)
	}
	return q
}

// count adds the pairs of words with the same stem. forms has their paradigms.
func (q *quality) count(forms map[string][]int) {
	list := make([][]int, 0, len(forms))
	for _, of := range forms {
		list = append(list, of)
	}
	for i, a := range list {
		for _, b := range list[i+1:] {
			q.all++
			if !meet(a, b) {
				q.wrong++
			}
		}
	}
}

// meet reports whether two ascending lists have a number in common.
func meet(a, b []int) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			return true
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

func share(part, of int) float64 { return 100 * float64(part) / float64(max(of, 1)) }

// frequent is a list of frequent Czech words with one "word count" per line, such as cs_50k.txt of
// github.com/hermitdave/FrequencyWords.
var frequent = flag.String("frequent", "", "compare stemmers on the words of this `file` too")

// TestCzechQuality prints how well the stemmer joins the forms of Debian's Czech dictionary, and
// fails if it falls below a limit. With -frequent it also prints this for the variants that were
// compared with it.
func TestCzechQuality(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	ps := readParadigms(t)
	vocabularies := map[string]map[string]bool{"whole dictionary": nil}
	if *frequent != "" {
		vocabularies["frequent words"] = frequentCzech(t)
	}
	for name, vocabulary := range vocabularies {
		for _, v := range czechVariants() {
			compared := *frequent != "" && (vocabulary != nil || v.name == "published, tables folded")
			if !compared && v.name != "this one" {
				continue // slow, and only the stemmer in use can fail
			}
			q, verbs := measure(ps, v.stem, false, vocabulary), measure(ps, v.stem, true, vocabulary)
			t.Logf("%s: %-38s joined %5.2f %% of %d pairs; wrong %5.2f %% of %d; verbs joined %5.2f %%", name, v.name,
				share(q.joined, q.pairs), q.pairs, share(q.wrong, q.all), q.all, share(verbs.joined, verbs.pairs))
			if v.name == "this one" && (share(q.joined, q.pairs) < 93 || share(q.wrong, q.all) > 25) {
				t.Errorf("%s: the stemmer got worse", name)
			}
		}
	}
}

// frequentCzech reads the folded words of the list of frequent words.
func frequentCzech(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(*frequent)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]bool)
	for line := range strings.Lines(string(b)) {
		word, _, _ := strings.Cut(line, " ")
		if ws, err := Split(word); err == nil && len(ws) == 1 {
			out[ws[0].Fold] = true
		}
	}
	return out
}
