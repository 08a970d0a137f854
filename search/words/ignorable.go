package words

import (
	"strings"
	"unicode"
)

// cutting is the one ignorable character that normalising keeps: it separates words, like white
// space.
const cutting = '\u200b'

// isIgnorable reports whether normalising drops r: whether it has the property
// Default_Ignorable_Code_Point and is not U+200B. The property is derived as in Unicode's
// DerivedCoreProperties.txt.
func isIgnorable(r rune) bool {
	switch {
	case r < 0xAD || r == cutting: // U+00AD is the first ignorable character
		return false
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	case !unicode.Is(unicode.Cf, r) || unicode.In(r, unicode.White_Space, unicode.Prepended_Concatenation_Mark):
		return false
	}
	return !isAnnotation(r) && !isHieroglyphFormat(r)
}

// isAnnotation reports whether r is a format character of interlinear annotations.
func isAnnotation(r rune) bool { return r >= 0xFFF9 && r <= 0xFFFB }

// isHieroglyphFormat reports whether r is a format character of Egyptian hieroglyphs.
func isHieroglyphFormat(r rune) bool { return r >= 0x13430 && r <= 0x13440 }

// dropIgnorable returns s without the characters for which isIgnorable holds, or s itself if it has
// none.
func dropIgnorable(s string) string {
	if strings.IndexFunc(s, isIgnorable) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isIgnorable(r) {
			return -1
		}
		return r
	}, s)
}
