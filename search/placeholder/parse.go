package placeholder

import (
	"strings"
)

// Use is how a text uses placeholders.
type Use uint8

// The uses.
const (
	Plain   Use = iota // it has no placeholder: it is shown as it is
	Keyword            // it is shown with the keyword's text, or the defaults
	Other              // it has a placeholder that cannot be filled: it is left out
)

// Of returns how a text uses placeholders.
func Of(text string) Use {
	_, use := parse(text)
	return use
}

// part is a keyword placeholder, with the text before it.
type part struct {
	before     string
	capitals   capitals
	substitute string // the default
}

// parsed is a text split at its keyword placeholders.
type parsed struct {
	parts []part
	rest  string // after the last placeholder
}

// parse splits a text at its keyword placeholders.
func parse(text string) (p parsed, use Use) {
	p.rest = text
	if strings.IndexByte(text, '{') < 0 {
		return p, Plain
	}
	done := 0
	for _, b := range braces(text) {
		if b.end == 0 {
			continue
		}
		inside := text[b.begin+1 : b.end]
		caps, of := meaning(inside)
		switch {
		case of == Other, of == Keyword && b.begin < done: // one within the default of another
			return parsed{rest: text}, Other
		case of == Keyword:
			_, substitute, _ := strings.Cut(inside, ":")
			p.parts = append(p.parts, part{text[done:b.begin], caps, substitute})
			done = b.end + 1
		}
	}
	p.rest = text[done:]
	if len(p.parts) > 0 {
		use = Keyword
	}
	return p, use
}

// brace is the positions of an opening brace and its closing one. end is 0 if the brace is never
// closed.
type brace struct{ begin, end int }

// braces returns all opening braces of a text.
func braces(text string) (list []brace) {
	var open []int // indexes into list
	for i := range len(text) {
		switch text[i] {
		case '{':
			open = append(open, len(list))
			list = append(list, brace{begin: i})
		case '}':
			if n := len(open); n > 0 {
				list[open[n-1]].end = i
				open = open[:n-1]
			}
		}
	}
	return list
}

// meaning returns how Google reads the text between two braces. Names are compared without case. A
// keyword placeholder with none of the five spellings is not filled.
func meaning(inside string) (capitals, Use) {
	if caps, ok := spelled(inside); ok {
		return caps, Keyword
	}
	inside = strings.ToLower(strings.TrimSpace(inside))
	n := strings.IndexAny(inside, ":(.=")
	if n < 0 {
		if inside == "keyword" {
			return 0, Other
		}
		return 0, Plain
	}
	switch strings.TrimSpace(inside[:n]) + inside[n:n+1] {
	case "=", "keyword:", "location(", "countdown(", "global_countdown(", "if(", "customizer.", "param1:", "param2:":
		return 0, Other
	}
	return 0, Plain
}
