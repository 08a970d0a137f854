package words

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// rules is the number that Version begins with. Raise it when anything else in Version changes:
// programs compare it to tell which of two versions is older. A version that does not begin with a
// number has rules 1.
const rules = 2

// Version names everything that words, stems and hashes depend on. A store built with another
// version must be built again, since its terms differ. A database with another version has other
// keys (backend/rekey).
func Version() string {
	return tables() + "; en snowball 0.9.0; cs " + czechVersion + "; xxh64"
}

// tables returns a text with the rules and tables on which normalisation and folding depend.
func tables() string {
	return rulesPrefix + strconv.Itoa(rules) + "; unicode " + unicode.Version + "/" + norm.Version
}

const rulesPrefix = "rules "

// Older reports whether a text names a version of words that is older than this program's. It may
// be any text.
func Older(version string) bool {
	n, ok := rulesOf(version)
	return ok && n < rules
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
