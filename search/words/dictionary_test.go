package words

import (
	"cmp"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/encoding/htmlindex"
)

// affix is a line "SFX flag strip add/next condition" of an .aff file.
type affix struct {
	suffixRule
	next []string // flags whose suffixes may follow
}

// dictionary is one of Debian's hunspell dictionaries. Prefixes are left out: most change the meaning.
type dictionary struct {
	flags    string // how flags are written: "", "long" or "num"
	aliases  []string
	suffixes map[string][]affix
	hidden   []string // flags of words that are none as they are: roots, parts of others, mistakes
}

// readDictionary reads NAME.aff and calls add with the lines of NAME.dic.
func readDictionary(t testing.TB, name string, add func(d *dictionary, word string, flags []string)) {
	t.Helper()
	d := &dictionary{suffixes: make(map[string][]affix)}
	encoding, lines := "", readText(t, name+".aff", "")
	for _, line := range lines {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "SET" {
			encoding = f[1]
		}
	}
	for _, line := range readText(t, name+".aff", encoding) {
		d.line(strings.Fields(line))
	}
	for _, line := range readText(t, name+".dic", encoding)[1:] {
		line, _, _ = strings.Cut(line, "\t")
		line, _, _ = strings.Cut(line, " ")
		word, flags, _ := strings.Cut(line, "/")
		add(d, word, d.split(flags))
	}
}

// readText returns the lines of a file of Debian's dictionaries in an encoding that an .aff file names.
func readText(t testing.TB, name, encoding string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/usr/share/hunspell", name))
	if err != nil {
		t.Skipf("Debian's dictionary is not installed: %v", err)
	}
	label := strings.Replace(strings.ToLower(encoding), "microsoft-cp", "windows-", 1)
	if e, err := htmlindex.Get(label); encoding != "" && encoding != "UTF-8" {
		if err != nil {
			t.Fatalf("%s: encoding %q", name, encoding)
		}
		if b, err = e.NewDecoder().Bytes(b); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Split(strings.TrimPrefix(strings.ReplaceAll(string(b), "\r", ""), "\ufeff"), "\n")
}

// line reads the fields of a line of an .aff file.
func (d *dictionary) line(f []string) {
	if len(f) < 2 {
		return
	}
	switch f[0] {
	case "FLAG":
		d.flags = strings.ToLower(f[1])
	case "AF":
		d.aliases = append(d.aliases, f[1]) // the first is their number, so that indexes begin at 1
	case "NEEDAFFIX", "PSEUDOROOT", "FORBIDDENWORD", "ONLYINCOMPOUND":
		d.hidden = append(d.hidden, f[1])
	case "SFX":
		if len(f) < 5 {
			return
		}
		add, next, _ := strings.Cut(f[3], "/")
		r := suffixRule{strip: strings.TrimPrefix(f[2], "0"), add: strings.TrimPrefix(add, "0"), cond: conditions(f[4])}
		d.suffixes[f[1]] = append(d.suffixes[f[1]], affix{r, d.split(next)})
	}
}

// split returns the single flags of a text of flags.
func (d *dictionary) split(text string) (out []string) {
	if i, err := strconv.Atoi(text); err == nil && len(d.aliases) > 0 && i < len(d.aliases) {
		text = d.aliases[i]
	}
	if d.flags == "num" {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	}
	n := 1
	if d.flags == "long" {
		n = 2
	}
	for some := range slices.Chunk([]rune(text), n) {
		out = append(out, string(some))
	}
	return out
}

// expand calls add with a word and the forms that suffixes make of it, up to deep after each other, until add returns
// false.
func (d *dictionary) expand(word string, flags []string, deep int, add func(string) bool) bool {
	if !slices.ContainsFunc(flags, func(f string) bool { return slices.Contains(d.hidden, f) }) && !add(word) {
		return false
	}
	if deep == 0 {
		return true
	}
	for _, flag := range flags {
		for _, r := range d.suffixes[flag] {
			if form, ok := r.apply(word); ok && !d.expand(form, r.next, deep-1, add) {
				return false
			}
		}
	}
	return true
}

// entry is a word of a dictionary with its forms, which are distinct when folded.
type entry struct {
	forms []Word
	half  int
}

// Bounds of what is measured: about the words of a half, and the forms of a word, since some dictionaries have thousands.
const (
	mostEntries = 20000
	mostForms   = 40
)

// readEntries returns words of a dictionary, some of each half. A half has whole groups of words with the same first two
// letters, since words with the same stem have these in common. Names are left out, except where all nouns are capitalised.
func readEntries(t testing.TB, name string, capitalised bool) (out []entry) {
	t.Helper()
	groups := make(map[string][]line)
	var d *dictionary
	readDictionary(t, name, func(of *dictionary, word string, flags []string) {
		first := []rune(word)
		if len(first) < 2 || unicode.IsUpper(first[1]) || unicode.IsUpper(first[0]) && !capitalised || !whole(word) {
			return
		}
		letters := []rune(folded(casefold(word)))
		group := string(letters[:min(2, len(letters))])
		d, groups[group] = of, append(groups[group], line{word, flags})
	})
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(mixed(a), mixed(b)) })
	var n [2]int
	for _, name := range names {
		half := int(mixed(name) & 1)
		if n[half] > mostEntries {
			continue
		}
		n[half] += len(groups[name])
		for _, l := range groups[name] {
			if forms := d.forms(l); len(forms) > 0 {
				out = append(out, entry{forms, half})
			}
		}
	}
	return out
}

// line is a word of a dictionary with its flags.
type line struct {
	word  string
	flags []string
}

// forms returns a word's forms, at most mostForms of them.
func (d *dictionary) forms(l line) (forms []Word) {
	seen := make(map[string]bool)
	d.expand(l.word, l.flags, 2, func(form string) bool {
		if seen[form] {
			return true
		}
		seen[form] = true
		if ws, err := Split(form); err == nil && len(ws) == 1 && whole(form) {
			forms = append(forms, ws[0])
		}
		return len(forms) < 10*mostForms
	})
	slices.SortFunc(forms, func(a, b Word) int {
		return cmp.Or(cmp.Compare(mixed(a.Fold), mixed(b.Fold)), cmp.Compare(a.Normalised, b.Normalised))
	})
	forms = slices.CompactFunc(forms, func(a, b Word) bool { return a.Fold == b.Fold })
	return forms[:min(len(forms), mostForms)]
}

// whole reports whether a form has nothing but its word.
func whole(form string) bool {
	return !strings.ContainsFunc(form, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M) && r != '\'' && r != '’' })
}

func mixed(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64() * 0x9e3779b97f4a7c15 >> 7
}
