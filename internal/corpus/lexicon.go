package corpus

import (
	"sort"
	"strings"
	"unicode"
)

// rareToken is how often a token with digits may occur to count as a model
// number, which recombined titles form by chance.
const rareToken = 3

// lexicon has the titles' tokens and where each occurs.
type lexicon struct {
	ids    map[string]int32
	tokens []string // as first seen
	count  []int32
	where  [][]place
}

// place is a token within a title.
type place struct {
	item int32
	pos  int32
}

// tokensOf cuts a text into runs of letters, digits and inner - ' . +.
func tokensOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// newLexicon tokenises the items' titles.
func newLexicon(items []item) *lexicon {
	l := &lexicon{ids: make(map[string]int32)}
	for i := range items {
		tokens := tokensOf(items[i].title)
		items[i].words = make([]int32, len(tokens))
		for pos, token := range tokens {
			id := l.add(token)
			items[i].words[pos] = id
			l.count[id]++
			l.where[id] = append(l.where[id], place{int32(i), int32(pos)})
		}
	}
	return l
}

// add finds a token without regard to case.
func (l *lexicon) add(token string) int32 {
	key := strings.ToLower(token)
	id, ok := l.ids[key]
	if !ok {
		id = int32(len(l.tokens))
		l.ids[key] = id
		l.tokens = append(l.tokens, token)
		l.count = append(l.count, 0)
		l.where = append(l.where, nil)
	}
	return id
}

// modelNumber reports whether a token is rare and contains a digit.
func (l *lexicon) modelNumber(id int32) bool {
	return l.count[id] <= rareToken && len(l.tokens[id]) > 2 && strings.ContainsAny(l.tokens[id], "0123456789")
}

// nameCampaigns gives each product without a category the commonest longer
// word of its title as a campaign, of the words that name many products.
func (l *lexicon) nameCampaigns(items []item) {
	const names = 400
	byCount := make([]int32, len(l.tokens))
	for i := range byCount {
		byCount[i] = int32(i)
	}
	sort.SliceStable(byCount, func(a, b int) bool { return l.count[byCount[a]] > l.count[byCount[b]] })
	good := make(map[int32]bool)
	for _, id := range byCount {
		if len(good) == names {
			break
		}
		if word := l.tokens[id]; len(word) > 3 && !strings.ContainsAny(word, "0123456789") && !stopWord(word) {
			good[id] = true
		}
	}
	for i := range items {
		if items[i].campaign == "" {
			items[i].campaign = l.campaignOf(items[i].words, good)
		}
	}
}

// campaignOf is the last word of a title that names many products: in English
// titles that is mostly the thing itself.
func (l *lexicon) campaignOf(words []int32, good map[int32]bool) string {
	for i := len(words) - 1; i >= 0; i-- {
		if good[words[i]] {
			return strings.ToLower(l.tokens[words[i]])
		}
	}
	return "other"
}

// stopWords are words at which a keyword does not begin or end.
var stopWords = map[string]bool{
	"a": true, "an": true, "and": true, "as": true, "at": true, "by": true, "for": true, "from": true, "in": true,
	"into": true, "is": true, "it": true, "its": true, "of": true, "on": true, "or": true, "other": true, "per": true,
	"that": true, "the": true, "to": true, "with": true, "your": true, "w": true, "than": true, "this": true,
	"do": true, "i": true, "k": true, "ke": true, "na": true, "nad": true, "nebo": true, "o": true, "od": true,
	"po": true, "pod": true, "pro": true, "s": true, "se": true, "u": true, "v": true, "ve": true, "z": true,
	"za": true, "ze": true, "jako": true, "kromě": true, "které": true, "jiné": true,
}

func stopWord(token string) bool { return stopWords[strings.ToLower(token)] }
