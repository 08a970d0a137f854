package placeholder

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"adshard/search/words"
)

// The longest that a filled text may become, in characters (code points).
const (
	MostHeadline    = 30
	MostDescription = 90
	MostPath        = 15
)

// Fill returns a text with its placeholders replaced by a keyword's text. If the result would have
// more than `most` characters, the placeholders' defaults replace them, and standsIn is true. For a
// text whose use is Other it returns "".
func Fill(text, keyword string, most int) (filled string, standsIn bool) {
	p, use := parse(text)
	switch use {
	case Plain:
		return text, false
	case Other:
		return "", false
	}
	filled, short := p.fill(most, func(x *part) string { return x.capitals.apply(keyword) })
	if !short {
		filled, _ = p.fill(math.MaxInt, byDefault)
	}
	return filled, !short
}

// Default returns a text with the defaults of all its placeholders, or "" if the text is left out.
func Default(text string) string {
	p, use := parse(text)
	switch use {
	case Plain:
		return text
	case Other:
		return ""
	}
	text, _ = p.fill(math.MaxInt, byDefault)
	return text
}

func byDefault(x *part) string { return x.substitute }

// fill replaces the placeholders by the texts that the function `with` returns. It returns false if
// the result has more than `most` characters.
func (p *parsed) fill(most int, with func(*part) string) (string, bool) {
	var b strings.Builder
	n := 0
	add := func(s string) bool {
		b.WriteString(s)
		n += utf8.RuneCountInString(s)
		return n <= most
	}
	for i := range p.parts {
		if !add(p.parts[i].before) || !add(with(&p.parts[i])) {
			return "", false
		}
	}
	short := add(p.rest)
	return b.String(), short
}

// Left returns a list without its blank texts and those that are never shown. It returns the list
// itself if there are none.
func Left(list []string) []string {
	if !slices.ContainsFunc(list, leftOut) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), leftOut)
}

func leftOut(text string) bool { return Of(text) == Other || Blank(text) }

// Shows reports whether the headlines have something to show whatever the keyword. An ad exists
// only if they do.
func Shows(headlines []string) bool {
	for _, s := range headlines {
		if !Blank(Default(s)) {
			return true
		}
	}
	return false
}

// Blank reports whether a text has only white space.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// capitals is the capitalisation that the spelling of a placeholder requests.
type capitals uint8

const (
	small      capitals = iota // keyword
	firstLarge                 // Keyword: the first letter is a capital
	wordsLarge                 // KeyWord: the first letter of each word
	firstWord                  // KEYWord: all of the first word, and the first letters of the others
	allLarge                   // KEYWORD
)

// spelled reads the capitalisation of a placeholder. It returns false if the text is not a keyword
// placeholder, or has none of the five spellings.
func spelled(inside string) (capitals, bool) {
	name, _, ok := strings.Cut(inside, ":")
	if !ok {
		return 0, false
	}
	switch name {
	case "keyword":
		return small, true
	case "Keyword":
		return firstLarge, true
	case "KeyWord":
		return wordsLarge, true
	case "KEYWord":
		return firstWord, true
	case "KEYWORD":
		return allLarge, true
	}
	return 0, false
}

// apply returns a text in this capitalisation, by Unicode's full mappings: ß becomes SS.
func (c capitals) apply(text string) string {
	if c == allLarge {
		return cases.Upper(language.Und).String(text)
	}
	text = cases.Lower(language.Und).String(text)
	switch c {
	case firstLarge:
		return titled(text)
	case wordsLarge, firstWord:
		return c.ofWords(text)
	}
	return text
}

func (c capitals) ofWords(text string) string {
	var b strings.Builder
	done := 0
	for i, w := range words.Spans(text) {
		b.WriteString(text[done:w.From])
		word := text[w.From:w.To]
		if i == 0 && c == firstWord {
			b.WriteString(cases.Upper(language.Und).String(word))
		} else {
			b.WriteString(titled(word))
		}
		done = w.To
	}
	b.WriteString(text[done:])
	return b.String()
}

// titled returns a lower-case text with its first letter as a capital.
func titled(text string) string {
	at := strings.IndexFunc(text, unicode.IsLetter)
	if at < 0 {
		return text
	}
	_, n := utf8.DecodeRuneInString(text[at:])
	return text[:at] + cases.Title(language.Und).String(text[at:at+n]) + text[at+n:]
}
