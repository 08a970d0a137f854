package oracletest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/internal/oracle"
	"adshard/search"
	"adshard/search/words"
)

// oneOf draws an element of a list that is not empty.
func oneOf[T any](t *rapid.T, label string, list []T) T {
	return list[rapid.IntRange(0, len(list)-1).Draw(t, label)]
}

// mostly returns true 24 times out of 25, so that what needs several entities to be enabled still happens often.
func mostly(t *rapid.T, label string) bool {
	return rapid.IntRange(0, 24).Draw(t, label) < 24
}

// rarely returns 0 most of the time, and sometimes 1 or 2.
func rarely(t *rapid.T, label string) int {
	return oneOf(t, label, []int{0, 0, 0, 0, 1, 2})
}

func drawType(t *rapid.T) search.MatchType {
	return oneOf(t, "match type", []search.MatchType{search.Broad, search.Phrase, search.Exact})
}

// drawBid draws from only a few bids, so that scores are often equal.
func drawBid(t *rapid.T) (bid uint64, has bool) {
	bids := []uint64{1_000_000, 1_000_000, 2_000_000, 500_000, 10_000, 9_999, 0, 1, 1_234_567, 10_000_000_000}
	if rapid.IntRange(0, 3).Draw(t, "has bid") == 0 {
		return 0, false
	}
	return oneOf(t, "bid", bids), true
}

func drawQuality(t *rapid.T) uint8 {
	return oneOf(t, "quality", []uint8{5, 5, 5, 1, 10, 7, 8})
}

func drawModifiers(t *rapid.T) (m [search.Devices]backend.Modifier) {
	for d := range m {
		m[d] = oneOf(t, "modifier", []backend.Modifier{
			{}, {}, {}, {}, {Set: true, Permille: 1000}, {Set: true, Permille: 1500}, {Set: true, Permille: 500},
			{Set: true, Permille: 1}, {Set: true, Permille: 10_000}, {Set: true},
		})
	}
	return m
}

// drawWithheld returns 0 most of the time.
func drawWithheld(t *rapid.T) uint32 {
	return oneOf(t, "withheld", []uint32{0, 0, 0, 0, 0, 0, 0, 0, 1, 100_000, 500_000, 900_000, 1_000_000})
}

// drawHold often returns 0.
func drawHold(t *rapid.T) backend.Hold {
	return oneOf(t, "hold", []backend.Hold{0, 0, backend.Refused, backend.Ended, backend.Refused | backend.Ended, backend.HeldBy(1), backend.HeldBy(77) | backend.Refused})
}

// drawLearned returns 0 most of the time.
func drawLearned(t *rapid.T) backend.Learned {
	return oneOf(t, "learned", []backend.Learned{0, 0, 0, 0, 0, 0, backend.NewLearned(1, 1, 0, 0), backend.NewLearned(6, 3, 900, 17), backend.NewLearned(10, 2, 1<<40, 1<<40)})
}

func drawLanguages(t *rapid.T) backend.Languages {
	return oneOf(t, "languages", []backend.Languages{"en", "cs", "cs en", "", "de", "de en", "cs de en"})
}

// drawURL draws a keyword's own URL. Most keywords have none.
func drawURL(t *rapid.T) string {
	return oneOf(t, "URL", []string{"", "", "", "https://keyword.example/", "https://keyword.example/other"})
}

// spelled draws a word of the vocabulary in one of several spellings.
func spelled(t *rapid.T) string {
	w := oneOf(t, "word", vocabulary)
	switch rapid.IntRange(0, 7).Draw(t, "case") {
	case 6:
		return strings.ToUpper(w)
	case 7:
		_, n := utf8.DecodeRuneInString(w)
		return strings.ToUpper(w[:n]) + w[n:]
	}
	return w
}

// text draws between 1 and `most` words, with separators between them, but not always before a run.
func text(t *rapid.T, most int) string {
	var b strings.Builder
	for i := range rapid.IntRange(1, most).Draw(t, "number of words") {
		w := spelled(t)
		if i > 0 && !(words.IsRun(w) && rapid.Bool().Draw(t, "no separator")) {
			b.WriteString(oneOf(t, "separator", []string{" ", " ", " ", "-", ", "}))
		}
		b.WriteString(w)
	}
	return b.String()
}

func drawKeyword(t *rapid.T) (given, joined string) {
	given = text(t, oneOf(t, "length", []int{1, 2, 3, 4, 6}))
	return given, normalised(given)
}

func drawNegative(t *rapid.T) (given, joined string) {
	given = text(t, 2)
	return given, normalised(given)
}

// normalised returns a keyword's words joined by one space. The vocabulary has no word that words.Keyword rejects.
func normalised(given string) string {
	split, err := words.Keyword(given)
	if err != nil {
		panic(fmt.Sprintf("oracletest: the vocabulary has a word that is refused: %v", err))
	}
	list := make([]string, len(split))
	for i, w := range split {
		list[i] = w.Normalised
	}
	return strings.Join(list, " ")
}

// DrawQuery draws a query that often matches something: a keyword's words, some of them in other forms, with other
// words before, after or between them, or in another order; or some words of the vocabulary.
func DrawQuery(t *rapid.T, w World) string {
	kind := rapid.IntRange(0, 9).Draw(t, "kind of query")
	if len(w.Items) > 0 && kind < 8 {
		it := oneOf(t, "group asked for", w.Items)
		if len(it.Keywords) > 0 {
			return around(t, otherForms(t, oneOf(t, "keyword asked for", it.Keywords).Words))
		}
	}
	if kind == 9 {
		return oneOf(t, "odd query", []string{"", "  ", "!?", strings.Repeat("usb cable boty ", 12), strings.Repeat("手机壳", 14), "x"})
	}
	return text(t, 6)
}

// otherForms replaces some words by others that may agree with them.
func otherForms(t *rapid.T, normalised string) string {
	list := strings.Fields(normalised)
	for i, w := range list {
		var forms []string
		for _, f := range families {
			if slices.Contains(f, w) {
				forms = append(forms, f...)
			}
		}
		if len(forms) > 0 && rapid.Bool().Draw(t, "in another form") {
			list[i] = oneOf(t, "form", forms)
		}
	}
	return strings.Join(list, " ")
}

func around(t *rapid.T, keyword string) string {
	switch rapid.IntRange(0, 5).Draw(t, "words around") {
	case 1:
		return keyword + " " + text(t, 2)
	case 2:
		return text(t, 2) + " " + keyword
	case 3:
		return text(t, 2) + " " + keyword + " " + text(t, 2)
	case 4:
		return strings.Replace(keyword, " ", " "+text(t, 1)+" ", 1)
	case 5:
		return strings.Join(rapid.Permutation(strings.Fields(keyword)).Draw(t, "order"), " ")
	}
	return keyword
}

// DrawRequest draws a request with one of the two built-in profiles.
func DrawRequest(t *rapid.T, w World) oracle.Request {
	r := oracle.Request{
		Text:      DrawQuery(t, w),
		Device:    search.Device(rapid.IntRange(0, search.Devices-1).Draw(t, "device")),
		Slots:     oneOf(t, "slots", []int{4, 1, 2, 3, 20}),
		Variants:  oneOf(t, "variants", []search.Level{search.Synonym, search.Misspelt, search.Inflected, search.Folded, search.Identical}),
		Reserve:   oneOf(t, "reserve", []uint64{10_000, 0, 1, 600_000}),
		RequestID: fmt.Sprintf("request-%d", rapid.IntRange(0, 9).Draw(t, "request id")),
		Profile:   oneOf(t, "profile", []search.Profile{search.DefaultProfile(), search.SklikProfile()}),
		Languages: w.Languages,
	}
	if r.Variants == search.Misspelt {
		r.Vocabulary = drawVocabulary(t, &w)
		r.Text = misspelt(t, r.Text)
	}
	return r
}

// DrawProfile draws any profile, with all combinations of the properties.
func DrawProfile(t *rapid.T) (p search.Profile) {
	for i := range p {
		p[i] = search.Rule{
			Others:   rapid.Bool().Draw(t, "others"),
			Ordered:  rapid.Bool().Draw(t, "ordered"),
			Adjacent: rapid.Bool().Draw(t, "adjacent"),
			Reach:    search.Level(rapid.IntRange(0, search.Levels-1).Draw(t, "reach")),
		}
	}
	return p
}

// drawBudget draws a campaign's daily budget; sometimes there is none, or it is 0.
func drawBudget(t *rapid.T, c *backend.Campaign) {
	c.HasBudget, c.DailyBudget = rapid.Bool().Draw(t, "has a daily budget"), 0
	if c.HasBudget && mostly(t, "more than 0") {
		c.DailyBudget = rapid.Uint64Range(1, 1<<40).Draw(t, "daily budget")
	}
}

// drawAdText draws a text of an ad, often with placeholders (serving.md §5.5): some that show the keyword or, if it
// is too long, their default, some that cause the text to be left out, and braces without a meaning.
func drawAdText(t *rapid.T) string {
	return oneOf(t, "text of an ad", []string{
		"second", "text", "{sale}", "a {KeyWord:b",
		"{keyword:sofa}", "{Keyword:sofa}!", "{KeyWord:So Fa}", "{KEYWord:so fa}", "{KEYWORD:sofa}",
		"buy {KeyWord:it} now", "{{keyword:x}} {KEYWord:y z}", "{KeyWord:a default that is longer than a headline may be}", "{KeyWord:}",
		"{KeyWord:{LOCATION(City)}}", "in {LOCATION(City)}", "{KeyWORD:x}", "{IF(device=mobile,{KeyWord:x}):y}", "{CUSTOMIZER.Price:10}",
	})
}
