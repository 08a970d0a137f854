package words

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// rules is the number that Version begins with. Raise it when anything else in Version
// changes: programs compare it to know which of two versions is the older one. A version
// that begins without a number has rules 1.
const rules = 2

// Version names everything that words, stems and hashes depend on. A store
// built with another version has to be built again: its terms differ. A database
// has keys of another one (backend/rekey).
func Version() string {
	return tables() + "; en snowball 0.9.0; cs " + czechVersion + "; xxh64"
}

// tables names the rules and tables that normalisation and folding depend on.
func tables() string {
	return rulesPrefix + strconv.Itoa(rules) + "; unicode " + unicode.Version + "/" + norm.Version
}

const rulesPrefix = "rules "

// Older reports whether a version of words, which may be no text of Version at
// all, is of lower rules than this program's.
func Older(version string) bool {
	n, ok := rulesOf(version)
	return ok && n < rules
}

// rulesOf returns the number of the rules of a version; ok: it is a text of
// Version, of this or another program.
func rulesOf(version string) (n int, ok bool) {
	if strings.HasPrefix(version, "unicode ") {
		return 1, true
	}
	rest, ok := strings.CutPrefix(version, rulesPrefix)
	number, _, more := strings.Cut(rest, "; ")
	n, err := strconv.Atoi(number)
	return n, ok && more && err == nil && n > 0
}
