package corpus

import (
	"sort"
	"strings"
	"unicode"
)

// rareToken is the most occurrences of a token with digits that is treated as a model number, to which recombined
// titles give new characters at random.
const rareToken = 3

// lexicon has the titles' tokens and where each of them occurs.
type lexicon struct {
	ids    map[string]int32
	tokens []string // as first seen
	count  []int32
	where  [][]place
}

// place is the place of a token: a title and the position in it.
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

// add returns the id of a token, ignoring case, and adds the token if it is new.
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

// nameCampaigns names the campaign of each product without a category after a word of its title, one of the commonest
// longer words, which occur in many titles.
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

// campaignOf returns the last word of a title that is in `good`, or "other" if there is none. In English titles that
// is mostly the product itself.
func (l *lexicon) campaignOf(words []int32, good map[int32]bool) string {
	for i := len(words) - 1; i >= 0; i-- {
		if good[words[i]] {
			return strings.ToLower(l.tokens[words[i]])
		}
	}
	return "other"
}

// stopWords are words with which no keyword begins or ends.
var stopWords = map[string]bool{
	"a": true, "an": true, "and": true, "as": true, "at": true, "by": true, "for": true, "from": true, "in": true,
	"into": true, "is": true, "it": true, "its": true, "of": true, "on": true, "or": true, "other": true, "per": true,
	"that": true, "the": true, "to": true, "with": true, "your": true, "w": true, "than": true, "this": true,
	"do": true, "i": true, "k": true, "ke": true, "na": true, "nad": true, "nebo": true, "o": true, "od": true,
	"po": true, "pod": true, "pro": true, "s": true, "se": true, "u": true, "v": true, "ve": true, "z": true,
	"za": true, "ze": true, "jako": true, "kromě": true, "které": true, "jiné": true,
}

func stopWord(token string) bool { return stopWords[strings.ToLower(token)] }
