package words

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Version names everything that words, stems and hashes depend on. A store
// built with another version has to be built again: its terms differ.
func Version() string {
	return tables() + "; en snowball 0.9.0; cs " + czechVersion + "; xxh64"
}

// tables names the tables that normalisation and folding depend on.
func tables() string { return "unicode " + unicode.Version + "/" + norm.Version }
