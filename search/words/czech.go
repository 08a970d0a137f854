package words

import "strings"

// czechVersion changes whenever any Czech stem changes.
const czechVersion = "light folded 1"

// czechStem is the smallest number of letters that a Czech stem keeps.
const czechStem = 3

// stemCzech is a light stemmer for folded Czech nouns and adjectives, after the light stemmer of
// Dolamic and Savoy, "Indexing and stemming approaches for the Czech language" (Information
// Processing and Management 45, 2009). Like theirs, it cuts the longest case ending and levels
// alternations at the stem's end; its endings are those that pay off in text without diacritics
// (docs/decisions/003-czech-stemmer.md has the figures).
//
// A word with a digit is left as it is: 100a and 100e are two models.
func stemCzech(w string) string {
	if strings.ContainsAny(w, "0123456789") {
		return w
	}
	w = cutCzechEnding(w)
	n := len(w)
	if n < czechStem {
		return w
	}
	last := w[n-1]
	fleeting := n > czechStem && w[n-2] == 'e' && isFleetingBefore(last) && !isCzechVowel(w[n-3])
	switch {
	case fleeting:
		return w[:n-2] + hard(last)
	case last == 'c' || last == 'z':
		return w[:n-1] + hard(last)
	}
	return w
}

// isFleetingBefore reports whether an e before a stem's last letter may come and go: okno, oken;
// hračka, hraček; barva, barev; služba, služeb.
func isFleetingBefore(last byte) bool { return strings.IndexByte("bcklnrv", last) >= 0 }

func isCzechVowel(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 }

// hard returns the hard form of a stem's last letter: ruka, ruce; kniha, knize.
func hard(last byte) string {
	switch last {
	case 'c':
		return "k"
	case 'z':
		return "h"
	}
	return string(rune(last)) // a letter after a fleeting e: ASCII
}

// cutCzechEnding cuts the longest case ending that leaves a stem.
func cutCzechEnding(w string) string {
	for l := min(3, len(w)-czechStem); l > 0; l-- {
		if isCzechEnding(w[len(w)-l:]) {
			return w[:len(w)-l]
		}
	}
	return w
}

// isCzechEnding reports whether e is a case ending of nouns or adjectives, without diacritics. Two
// kinds of published endings are left out. "ove" would separate forms of adjectives in -ový. The
// others, once folded, end the stems of many loan words: at, ata, aty, ete, eti, es, os, us, mi.
func isCzechEnding(e string) bool {
	switch e {
	case "a", "e", "i", "o", "u", "y",
		"am", "em", "im", "um", "ym", "ou", "uv",
		"ach", "ech", "ich", "ych", "ami", "emi", "imi", "ymi", "ima", "yma",
		"eho", "iho", "emu", "imu", "ovi":
		return true
	}
	return false
}
