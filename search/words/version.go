package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// rules is the number that a version begins with. Raise it when anything else in Version changes:
// programs compare it to tell which of two versions is older. A version that does not begin with a
// number has rules 1.
const rules = 4

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
	return rulesPrefix + strconv.Itoa(rules) + "; unicode " + unicode.Version + "/" + norm.Version + "; " + segmenter
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

// LanguagesOf returns the codes of the languages in a version of words, with commas between them, or "" if it is
// not a version of this program's tables and hashes.
func LanguagesOf(version string) string {
	rest, ok := strings.CutPrefix(version, tables())
	rest, whole := strings.CutSuffix(rest, hashes)
	if !ok || !whole {
		return ""
	}
	var codes []string
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "; "), "; ") {
		code, _, _ := strings.Cut(part, " ")
		codes = append(codes, code)
	}
	slices.Sort(codes) // the order of Languages.String
	return strings.Join(codes, ",")
}

// Differ says, for errors, how the words of two programs differ and what to do. The versions may be any texts.
func Differ(peer, peerVersion, own, ownVersion string) string {
	if onlyLanguages(peerVersion, ownVersion) {
		return fmt.Sprintf("%s has the languages %s, %s has %s: give all processes of the cluster the same `languages`",
			peer, LanguagesOf(peerVersion), own, LanguagesOf(ownVersion))
	}
	if peerVersion == "" {
		peerVersion = "from before versions"
	}
	return fmt.Sprintf("%s has words of version %q, %s of %q, and would miss keywords and negatives: update the older program",
		peer, peerVersion, own, ownVersion)
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
