package shell

import (
	"os/exec"
	"testing"
)

// TestWord: a shell reads each word as the text that it stands for; plain ones have no quotes.
func TestWord(t *testing.T) {
	for text, want := range map[string]string{
		"slave-0":          "slave-0",
		"/var/lib/a=b,c+%": "/var/lib/a=b,c+%",
		"sqlite:ads.db":    "sqlite:ads.db",
		"adshard-slave@0":  "adshard-slave@0",
		"":                 `''`,
		"PATH=x":           `PATH=x`,
		"a b":              `'a b'`,
		"it's":             `'it'\''s'`,
		`"`:                `'"'`,
		"$(touch x)":       `'$(touch x)'`,
		"`id`;&|<>*?#!\\~": "'`id`;&|<>*?#!\\~'",
		"~":                `'~'`,
		"žena":             `'žena'`,
		"a\nb":             "'a\nb'",
	} {
		got := Word(text)
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+got).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q: a shell reads %q, %v", text, out, err)
		}
	}
}
