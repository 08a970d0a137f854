package words

import (
	"strings"
	"testing"
)

// TestExceptions: each exception is of a language in the table, changes a stem, and is written as words are compared.
func TestExceptions(t *testing.T) {
	_, rest, _ := strings.Cut(exceptionsFile, "\n")
	seen, rules := make(map[string]bool), make(map[string]func(string) string)
	for _, c := range candidates() {
		rules[c.code] = c.stem
	}
	for line := range strings.Lines(rest) {
		f := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' || r == ' ' || r == '\n' })
		language, stem, forms := f[0], f[1], f[2:]
		version := stemmerOf(language).version
		if !strings.Contains(version, " exceptions ") {
			t.Errorf("%s has exceptions, and its version is %q", language, version)
		}
		for _, form := range forms {
			got, _ := Stem(language, form)
			if got != stem || rules[language](form) == stem || seen[language+form] || folded(casefold(form)) != form {
				t.Errorf("%s: %s has the stem %s, want %s; by the rules %s", language, form, got, stem, rules[language](form))
			}
			seen[language+form] = true
		}
	}
}
