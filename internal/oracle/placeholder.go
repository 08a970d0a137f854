package oracle

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"adshard/backend"
)

// This file implements serving.md §5.5 with patterns, from the inside out: the innermost of nested braces are
// replaced by marks first.

var (
	innermost = regexp.MustCompile(`\{([^{}]*)\}`)
	five      = regexp.MustCompile(`^(keyword|Keyword|KeyWord|KEYWord|KEYWORD):`)
	google    = regexp.MustCompile(`(?is)^\s*(keyword\s*(:|$)|=|(location|countdown|global_countdown|if)\s*\(|customizer\s*\.|param[12]\s*:)`)
)

// found is the content of a pair of braces. Marks in it stand for inner pairs.
type found struct{ inside string }

// pairs splits a text. In the text that is left, the rune base + i stands for the i-th pair of braces.
func pairs(text string) (left string, list []found) {
	for {
		at := innermost.FindStringSubmatchIndex(text)
		if at == nil {
			return text, list
		}
		list = append(list, found{text[at[2]:at[3]]})
		text = text[:at[0]] + string(rune(base+len(list)-1)) + text[at[1]:]
	}
}

// base is the first of the runes that stand for braces, in a plane for private use.
const base = 0x100000

// isLeftOut reports whether a text is not shown.
func isLeftOut(text string) bool {
	_, list := pairs(text)
	for i, p := range list {
		keyword := five.MatchString(p.inside)
		if google.MatchString(p.inside) && !keyword || keyword && within(list, i) {
			return true
		}
	}
	return strings.TrimSpace(text) == ""
}

// within reports whether the i-th pair is inside a default.
func within(list []found, i int) bool {
	mark := string(rune(base + i))
	for j, p := range list {
		if strings.Contains(p.inside, mark) {
			return five.MatchString(p.inside) || within(list, j)
		}
	}
	return false
}

// fill returns a text with the keyword, or with defaults if `with` is nil.
func fill(text string, with *string) string {
	left, list := pairs(text)
	var write func(string) string
	write = func(s string) string {
		var b strings.Builder
		for _, r := range s {
			i := int(r) - base
			if i < 0 || i >= len(list) {
				b.WriteRune(r)
				continue
			}
			name := five.FindString(list[i].inside)
			switch {
			case name == "":
				b.WriteString("{" + write(list[i].inside) + "}")
			case with == nil:
				b.WriteString(write(list[i].inside[len(name):]))
			default:
				b.WriteString(inCapitals(name[:len(name)-1], *with))
			}
		}
		return b.String()
	}
	return write(left)
}

// wordPattern finds words in texts without apostrophes. Drawn worlds have no apostrophes.
var wordPattern = regexp.MustCompile(`[\pL\pN][\pL\pM\pN]*`)

func inCapitals(name, text string) string {
	lower := strings.ToLower(text)
	first := true
	return wordPattern.ReplaceAllStringFunc(lower, func(w string) string {
		begins := first
		first = false
		switch {
		case name == "KEYWORD", name == "KEYWord" && begins:
			return upper(w)
		case name == "keyword", name == "Keyword" && !begins:
			return w
		}
		at := strings.IndexFunc(w, unicode.IsLetter)
		first = at < 0 && name == "Keyword"
		if at < 0 {
			return w
		}
		_, n := utf8.DecodeRuneInString(w[at:])
		return w[:at] + upper(w[at:at+n]) + w[at+n:]
	})
}

// upper converts to upper case. Of the letters that become two in capitals, it knows only the one in drawn worlds.
func upper(s string) string { return strings.ReplaceAll(strings.ToUpper(s), "ß", "SS") }

// shown returns a text as it is shown with a keyword. in is true if it contains a default.
func shown(text, keyword string, most int) (s string, in bool) {
	if isLeftOut(text) {
		return "", false
	}
	s = fill(text, &keyword)
	_, list := pairs(text)
	placeholders := slices.ContainsFunc(list, func(p found) bool { return five.MatchString(p.inside) })
	if placeholders && len([]rune(s)) > most {
		s, in = fill(text, nil), true
	}
	if strings.TrimSpace(s) == "" {
		return "", false
	}
	return s, in
}

// isThere reports whether an ad has a headline to show for any keyword.
func isThere(ad *backend.Ad) bool {
	for _, h := range ad.Headlines {
		if !isLeftOut(h) && strings.TrimSpace(fill(h, nil)) != "" {
			return true
		}
	}
	return false
}

// filled returns an ad as it is shown with a keyword, and those of its texts that contain a default.
func filled(ad *backend.Ad, keyword string) (*backend.Ad, []string) {
	out := *ad
	var defaults []string
	one := func(text string, most int) string {
		s, in := shown(text, keyword, most)
		if in {
			defaults = append(defaults, s)
		}
		return s
	}
	all := func(texts []string, most int) (left []string) {
		for _, text := range texts {
			if s := one(text, most); s != "" {
				left = append(left, s)
			}
		}
		return left
	}
	out.Headlines, out.Descriptions = all(ad.Headlines, 30), all(ad.Descriptions, 90)
	out.Path1, out.Path2 = one(ad.Path1, 15), one(ad.Path2, 15)
	return &out, defaults
}
