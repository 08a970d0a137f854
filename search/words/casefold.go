package words

import (
	"strings"

	"golang.org/x/text/cases"
)

// folder is full case folding except for Cherokee; it has no state.
var folder = cases.Fold()

// casefold is Unicode's full case folding (statuses C and F). cases.Fold swaps the cases of
// Cherokee, whose letters fold to capitals, so they are mapped here.
func casefold(s string) string {
	if strings.IndexFunc(s, isCherokee) < 0 {
		return folder.String(s)
	}
	var b strings.Builder
	for s != "" {
		i := strings.IndexFunc(s, isCherokee)
		if i < 0 {
			b.WriteString(folder.String(s))
			break
		}
		b.WriteString(folder.String(s[:i]))
		n := strings.IndexFunc(s[i:], func(r rune) bool { return !isCherokee(r) })
		if n < 0 {
			n = len(s) - i
		}
		b.WriteString(strings.Map(foldCherokee, s[i:i+n]))
		s = s[i+n:]
	}
	return b.String()
}

func isCherokee(r rune) bool {
	return r >= 0x13A0 && r <= 0x13F5 || r >= 0x13F8 && r <= 0x13FD || r >= 0xAB70 && r <= 0xABBF
}

func foldCherokee(r rune) rune {
	switch {
	case r >= 0xAB70:
		return r - 0xAB70 + 0x13A0
	case r >= 0x13F8:
		return r - 0x13F8 + 0x13F0
	}
	return r
}
