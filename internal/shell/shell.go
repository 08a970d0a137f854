// Package shell writes words of commands that people copy into a shell.
package shell

import (
	"regexp"
	"strings"
)

// plain matches a word that means itself in a shell.
var plain = regexp.MustCompile(`^[\w@%+:,./-][\w@%+=:,./-]*$`)

// Word returns text as one word of a command of a POSIX shell, in quotes if it needs them.
func Word(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
