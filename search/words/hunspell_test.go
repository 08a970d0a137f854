package words

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

// Debian's hunspell-cs, the reference for Czech stems.
const (
	hunspellAff = "/usr/share/hunspell/cs_CZ.aff"
	hunspellDic = "/usr/share/hunspell/cs_CZ.dic"
)

// suffixRule is a line "SFX flag strip add condition" of an .aff file.
type suffixRule struct {
	strip, add string
	cond       []condition
}

// condition is one letter of a rule's condition: one that is, or is not, in set.
type condition struct {
	set  string
	none bool
}

func (r suffixRule) apply(word string) (string, bool) {
	if !strings.HasSuffix(word, r.strip) {
		return "", false
	}
	letters := []rune(word)
	if len(letters) < len(r.cond) {
		return "", false
	}
	for i, c := range r.cond {
		letter := letters[len(letters)-len(r.cond)+i]
		if c.set != "" && strings.ContainsRune(c.set, letter) == c.none {
			return "", false
		}
	}
	return strings.TrimSuffix(word, r.strip) + r.add, true
}

// readSuffixes reads the suffix rules of an .aff file by flag.
func readSuffixes(t testing.TB) map[rune][]suffixRule {
	t.Helper()
	rules := make(map[rune][]suffixRule)
	for _, line := range readLines(t, hunspellAff) {
		f := strings.Fields(line)
		if len(f) < 5 || f[0] != "SFX" {
			continue
		}
		add, _, _ := strings.Cut(f[3], "/")
		r := suffixRule{strip: strings.TrimPrefix(f[2], "0"), add: strings.TrimPrefix(add, "0"), cond: conditions(f[4])}
		flag := []rune(f[1])[0]
		rules[flag] = append(rules[flag], r)
	}
	return rules
}

// conditions reads a rule's condition.
func conditions(text string) (out []condition) {
	for c := []rune(text); len(c) > 0; {
		switch end := slices.Index(c, ']'); {
		case c[0] == '.':
			out, c = append(out, condition{}), c[1:]
		case c[0] != '[' || end < 2:
			out, c = append(out, condition{set: string(c[:1])}), c[1:]
		case c[1] == '^':
			out, c = append(out, condition{set: string(c[2:end]), none: true}), c[end+1:]
		default:
			out, c = append(out, condition{set: string(c[1:end])}), c[end+1:]
		}
	}
	return out
}

func readLines(t testing.TB, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("Debian's package hunspell-cs is not installed: %v", err)
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// paradigm is a dictionary word with its inflected forms, folded, distinct.
type paradigm struct {
	forms []string
	verb  bool
}

// readParadigms expands the dictionary's words. It leaves out names and the prefixes "ne" and
// "nej", which change the meaning. It also leaves out the nouns in -ost, the adverbs and the short
// forms of adjectives, which are derivations, not inflections.
func readParadigms(t testing.TB) []paradigm {
	t.Helper()
	rules := readSuffixes(t)
	var out []paradigm
	for _, line := range readLines(t, hunspellDic)[1:] {
		word, flags, _ := strings.Cut(line, "/")
		if word == "" || strings.ToLower(word) != word || !letters(word) {
			continue
		}
		p := paradigm{verb: strings.ContainsAny(flags, "ABJTX")}
		forms := []string{folded(word)}
		for _, flag := range flags {
			if strings.ContainsRune(flags, 'Y') && flag != 'Y' && !p.verb {
				continue
			}
			for _, r := range rules[flag] {
				if form, ok := r.apply(word); ok {
					forms = append(forms, folded(form))
				}
			}
		}
		slices.Sort(forms)
		p.forms = slices.Compact(forms)
		out = append(out, p)
	}
	return out
}

func letters(s string) bool {
	from, to := next(s, 0)
	return from == 0 && to == len(s)
}
