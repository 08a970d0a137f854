package words

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// rules is the number that a version begins with. Raise it when anything else in Version changes:
// programs compare it to tell which of two versions is older. A version that does not begin with a
// number has rules 1.
const rules = 2

// Version is that of the default languages. Databases name it, whatever languages are in use, since
// their keys are made of normalised words (backend/rekey).
func Version() string { return Languages(0).Version() }

// Version names everything that words, stems and hashes depend on. A store built with another
// version must be built again, since its terms differ.
func (l Languages) Version() string {
	version := tables()
	codes := l.Codes()
	if i := slices.Index(codes, "en"); i > 0 { // versions have begun with it since there were two languages
		copy(codes[1:], codes[:i])
		codes[0] = "en"
	}
	for _, code := range codes {
		version += "; " + code + " " + stemmerOf(code).version
	}
	return version + hashes
}

// tables returns a text with the rules and tables on which normalisation and folding depend.
func tables() string {
	return rulesPrefix + strconv.Itoa(rules) + "; unicode " + unicode.Version + "/" + norm.Version
}

const (
	rulesPrefix = "rules "
	hashes      = "; xxh64"
)

// Older reports whether a text names a version of words that is older than this program's. It may
// be any text.
func Older(version string) bool {
	n, ok := rulesOf(version)
	return ok && n < rules
}

// OtherLanguages reports whether a text names a version of words that differs from these only in the
// languages. It may be any text.
func (l Languages) OtherLanguages(version string) bool { return onlyLanguages(l.Version(), version) }

// onlyLanguages reports whether two versions have the same tables and hashes, and are different.
func onlyLanguages(a, b string) bool {
	return a != b && strings.HasPrefix(a, tables()) && strings.HasPrefix(b, tables()) &&
		strings.HasSuffix(a, hashes) && strings.HasSuffix(b, hashes)
}

// Remedy says, for errors, what to do about two programs with words of different versions, which may be
// any texts.
func Remedy(a, b string) string {
	if onlyLanguages(a, b) {
		return "give all processes of the cluster the same languages"
	}
	return "update the older program"
}

// rulesOf returns the number of rules in a version. ok is false if no program's Version can have
// returned the text.
func rulesOf(version string) (n int, ok bool) {
	if strings.HasPrefix(version, "unicode ") {
		return 1, true
	}
	rest, ok := strings.CutPrefix(version, rulesPrefix)
	number, _, more := strings.Cut(rest, "; ")
	n, err := strconv.Atoi(number)
	return n, ok && more && err == nil && n > 0
}
