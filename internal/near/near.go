// Package near finds the existing name that a wrong name probably meant, among given names.
package near

import "unicode/utf8"

// most is the largest distance at which a name is still near.
const most = 2

// Name returns the name nearest to a wrong one, the first if several are equally near, or "" if none is near. At most
// half of a short name may be wrong.
func Name(wrong string, names []string) (nearest string) {
	least := min(most, utf8.RuneCountInString(wrong)/2) + 1
	for _, name := range names {
		if d := Distance([]rune(wrong), []rune(name), least-1); d < least {
			nearest, least = name, d
		}
		if least == 0 {
			break
		}
	}
	return nearest
}

// Distance returns the number of edits between a and b, or some number above `most` if there are more than most. An
// edit inserts, deletes or replaces a character, or swaps two adjacent ones. Swapped characters are not edited again
// (optimal string alignment).
func Distance(a, b []rune, most int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case max(len(a), len(b)) == 0:
		return 0
	case most == 0 || len(a)-len(b) > most || len(b)-len(a) > most:
		return most + 1
	case len(a) == 0 || len(b) == 0:
		return max(len(a), len(b))
	}
	least := Distance(a[1:], b[1:], most-1) // the first characters differ
	least = min(least, Distance(a[1:], b, most-1))
	least = min(least, Distance(a, b[1:], most-1))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		least = min(least, Distance(a[2:], b[2:], most-1))
	}
	return 1 + least
}
