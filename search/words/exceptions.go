package words

import (
	_ "embed"
	"fmt"
	"strings"
)

// exceptionsFile lists words to which a stemmer would give the stem of another word. Its first line is
// "version N"; then follows a line for each stem: language, stem, and the folded forms that have it,
// separated by tabs and spaces. Raise its version with any change: it is part of the version of each
// language that has exceptions.
//
//go:embed exceptions.tsv
var exceptionsFile string

// except returns a stemmer with a language's exceptions.
func except(language string, s stemmer) stemmer {
	version, list := readExceptions(exceptionsFile, language)
	stem := s.stem
	return stemmer{s.version + " exceptions " + version, func(folded string) string {
		if own, ok := list[folded]; ok {
			return own
		}
		return stem(folded)
	}}
}

// readExceptions returns the version of a file of exceptions, and the stems of a language's words. It
// panics if the file is not one, since that is part of the program.
func readExceptions(file, language string) (version string, list map[string]string) {
	first, rest, _ := strings.Cut(file, "\n")
	version, ok := strings.CutPrefix(first, "version ")
	if !ok {
		panic(fmt.Sprintf("words: exceptions begin with %q", first))
	}
	list = make(map[string]string)
	for line := range strings.Lines(rest) {
		code, more, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		stem, forms, ok := strings.Cut(more, "\t")
		if !ok {
			panic(fmt.Sprintf("words: exception %q", line))
		}
		for form := range strings.SplitSeq(forms, " ") {
			if code == language {
				list[form] = stem
			}
		}
	}
	return version, list
}
