package corpus

import (
	"strings"
	"unicode"

	"adshard/search/words"
)

// draftKeyword is a keyword of a group that is being made.
type draftKeyword struct {
	text  string
	joint string // normalised words
	match string
}

// matchTypes is the mix of match types of keywords that are runs of words. Whole titles are exact keywords, so that in
// all about 30, 30 and 40 % are broad, phrase and exact.
var matchTypes = mixOf(map[string]int{"Broad": 33, "Phrase": 33, "Exact": 34}, "Broad", "Phrase", "Exact")

// runLengths has the mix of the numbers of a title's words that a keyword takes: mostly two or three, as people type.
var runLengths = [...]int{1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 5, 6}

// groupSizes has the mix of the numbers of keywords that a group should have. Short titles give fewer, so that the
// average is 11.
var groupSizes = [...]int{4, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 15, 16, 18, 22, 26}

// asked has words that people type around what they look for.
var (
	asked   = [...]string{"buy %", "cheap %", "% price", "best %", "% review", "% online", "% for sale", "new %"}
	askedCs = [...]string{"levné %", "% cena", "koupit %", "% recenze", "nejlepší %", "% eshop", "% bazar", "nový %"}
)

// keywordMaker makes the keywords of groups, one group after the other.
type keywordMaker struct {
	words words.Analyser
	pairs bool // runs of words have two or more
	seen  map[string]bool
	out   []draftKeyword
}

// make returns up to n different keywords of a group with this title.
func (m *keywordMaker) make(d dice, it *item, tokens []string, n int) []draftKeyword {
	m.out = m.out[:0]
	if m.seen == nil {
		m.seen = make(map[string]bool)
	}
	clear(m.seen)
	for _, text := range it.keywords[:min(len(it.keywords), n/2)] {
		m.add(text, pick(d, matchTypes))
	}
	m.add(strings.Join(tokens[:min(len(tokens), 8)], " "), "Exact")
	for tries := 0; len(m.out) < n && tries < 4*n; tries++ {
		text := run(d, tokens)
		if m.pairs && !twoWords(text) {
			continue // one word of a title, or numbers, say little of what is sold
		}
		if tries > 2*n || d.chance(40) {
			text = askedFor(d, it, text)
		}
		m.add(text, pick(d, matchTypes))
	}
	return m.out[:min(len(m.out), n)]
}

// run returns some neighbouring words of a title that begin and end with a word that is not a stop word, or "" if none
// are found.
func run(d dice, tokens []string) string {
	n := min(pick(d, runLengths[:]), len(tokens))
	if n == 0 {
		return ""
	}
	from := d.IntN(len(tokens) - n + 1)
	part := tokens[from : from+n]
	for len(part) > 0 && stopWord(part[0]) {
		part = part[1:]
	}
	for len(part) > 0 && stopWord(part[len(part)-1]) {
		part = part[:len(part)-1]
	}
	if len(part) == 1 && len(part[0]) < 3 {
		return ""
	}
	return strings.Join(part, " ")
}

// twoWords reports whether a text has two different words of two letters or more.
func twoWords(text string) bool {
	first := ""
	for word := range strings.FieldsSeq(text) {
		if len(word) < 2 || strings.ContainsFunc(word, unicode.IsDigit) || strings.EqualFold(word, first) {
			continue
		}
		if first != "" {
			return true
		}
		first = word
	}
	return false
}

func askedFor(d dice, it *item, text string) string {
	if text == "" {
		return ""
	}
	form := pick(d, asked[:])
	if it.czech {
		form = pick(d, askedCs[:])
	}
	return strings.Replace(form, "%", text, 1)
}

// add adds a keyword unless the group has it already or an import would reject it.
func (m *keywordMaker) add(text, match string) {
	found, err := m.words.Keyword(text)
	if err != nil || strings.TrimSpace(text) != text || strings.ContainsAny(text[:1], `["`) {
		return
	}
	var joint strings.Builder
	joint.WriteString(match)
	for _, w := range found {
		joint.WriteByte(' ')
		joint.WriteString(w.Normalised)
	}
	key := joint.String()
	if !m.seen[key] {
		m.seen[key] = true
		m.out = append(m.out, draftKeyword{text: text, joint: key, match: match})
	}
}

// mixOf lists each name as many times as its percentage, in the given order.
func mixOf(percent map[string]int, order ...string) []string {
	var out []string
	for _, name := range order {
		for range percent[name] {
			out = append(out, name)
		}
	}
	return out
}
