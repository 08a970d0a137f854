package lexicon

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/search/words"
)

const english = `UTF-8
couch|2
(noun)|sofa|Lounge|seat (generic term)|day bed
(verb)|frame|hot (antonym)
sofa|1
(noun)|couch|divan|big (similar term)
one|1
(noun)|I|1|K2|C++|.22
café|1
(noun)|coffee bar|Coffeehouse|cafe
`

func build(t *testing.T, sources ...Source) (*words.Lexicon, []Count) {
	t.Helper()
	var out bytes.Buffer
	counts, err := Build(context.Background(), &out, sources...)
	if err != nil {
		t.Fatal(err)
	}
	l, err := words.ReadLexicon(&out)
	if err != nil {
		t.Fatal(err)
	}
	return l, counts
}

func TestBuild(t *testing.T) {
	czech := "ISO8859-2\n" + "\xbelut\xfd|1\n|zlat\xfd|k\xf9\xf2\n" // žlutý|zlatý|kůň
	l, counts := build(t, Source{"en", "en", strings.NewReader(english)}, Source{"cs", "cs", strings.NewReader(czech)})
	for _, tt := range []struct{ language, word, want string }{
		{"en", "couch", "frame lounge sofa"},
		{"en", "sofa", "couch divan"},
		{"en", "divan", "sofa"},
		{"en", "lounge", "couch"},
		{"en", "seat", ""},
		{"en", "hot", ""},
		{"en", "big", ""},
		{"en", "i", ""},
		{"en", "one", "1 k2"},
		{"en", "1", "one"},
		{"en", "22", ""},
		{"en", "cafe", "coffeehouse"},
		{"en", "zluty", ""},
		{"cs", "zluty", "kun zlaty"},
		{"cs", "kun", "zluty"},
		{"pl", "couch", ""},
	} {
		if got := strings.Join(l.Synonyms(tt.language, tt.word), " "); got != tt.want {
			t.Errorf("Synonyms(%s, %s) = %q, want %q", tt.language, tt.word, got, tt.want)
		}
	}
	want := []Count{{"cs", 3, 2, 2}, {"en", 10, 7, 3}}
	if !slices.Equal(counts, want) || l.Pairs() != 9 {
		t.Errorf("counts %+v and %d pairs, want %+v and 9", counts, l.Pairs(), want)
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, tt := range []struct{ name, language, text, want string }{
		{"no encoding", "en", "hello\n", "no known encoding"},
		{"empty", "en", "", "no known encoding"},
		{"no number", "en", "UTF-8\nword\n", "line 2"},
		{"number too large", "en", "UTF-8\nword|99999999\n", "line 2"},
		{"cut", "en", "UTF-8\nword|3\n(noun)|term\n", "ends within"},
		{"no pair", "en", "UTF-8\nword|1\n(noun)|two words\n", "no pair"},
		{"unknown language", "pl", english, "no synonyms in language"},
	} {
		_, err := Build(context.Background(), new(bytes.Buffer), Source{tt.language, "x.dat", strings.NewReader(tt.text)})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an invalid fault with %q", tt.name, err, tt.want)
		}
	}
}

func TestBuildFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lexicon")
	_, err := BuildFile(context.Background(), path, File{"en", filepath.Join(dir, "no.dat"), "mythes-en-us"})
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "apt-get install mythes-en-us") {
		t.Errorf("a thesaurus that is not there: %v", err)
	}
	source := filepath.Join(dir, "th.dat")
	if err := os.WriteFile(source, []byte(english), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := BuildFile(context.Background(), path, File{Language: "en", Path: source}); err != nil {
		t.Fatal(err)
	}
	if l, err := Open(path); err != nil || l.Pairs() != 7 {
		t.Errorf("Open: %d pairs, %v; want 7", l.Pairs(), err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 2 {
		t.Errorf("files left: %v", names)
	}
}

// TestDebian builds a lexicon from the real thesauri twice, and prints figures.
func TestDebian(t *testing.T) {
	files := DebianFiles()
	for _, f := range files {
		if _, err := os.Stat(f.Path); err != nil {
			t.Skipf("Debian's package %s is not installed", f.Package)
		}
	}
	path := filepath.Join(t.TempDir(), "lexicon")
	start := time.Now()
	counts, err := BuildFile(context.Background(), path, files...)
	if err != nil {
		t.Fatal(err)
	}
	built := time.Since(start)
	start = time.Now()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(path)
	t.Logf("%+v: built in %v, %d bytes, read in %v, %s", counts, built, info.Size(), time.Since(start), l.Hash())
	for _, tt := range []struct{ language, word, synonym string }{
		{"en", "couch", "sofa"}, {"en", "sofa", "couch"}, {"cs", "levny", "dostupny"}, {"cs", "dostupny", "levny"},
	} {
		if !slices.Contains(l.Synonyms(tt.language, tt.word), tt.synonym) {
			t.Errorf("%s: %s and %s are no pair", tt.language, tt.word, tt.synonym)
		}
	}
	if slices.Contains(l.Synonyms("en", "couch"), "seat") {
		t.Error("en: a generic term counts as a synonym")
	}
}
