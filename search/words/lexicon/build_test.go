package lexicon

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// TestForms: other languages' thesauri have other marks, encodings and empty parts of speech.
func TestForms(t *testing.T) {
	german := "UTF-8\n|1\n-|(Jahreszahl)|anno (...)\nmobil|2\n-|Mobil (Hauptform)|Funker (Hauptform)|Taschenfon|Knochen (ugs.)|Fon (Hauptform) (Oberbegriff)|(das) Teil|auf Rädern\n-|rollend\n" +
		"ruder|1\n-|Ruder|Riemen (fachspr.)|Paddel|Schuh(e)\nriemen|1\n-|Ruder|Riemen (fachspr.)\n"
	danish := "utf-8\n'høre efter|1\n|lytte\nfarve|2\n|kulør|nuance|farve på\n|rød (underbegreb)|blå (underbegreb)|lak (daglig tale)\n"
	swedish := "ISO-8859-1\r\nTV|1\r\n|burk|TV-apparat|br\xe4da\r\n"
	norwegian := "ISO8859-1\n(be)rede|1\n-|ordne\nb\xe5t|1\n-|jolle|skip/skute|snekke (muntlig mening)\n"
	l, _ := build(t, Source{"de", "de", strings.NewReader(german)}, Source{"da", "da", strings.NewReader(danish)},
		Source{"sv", "sv", strings.NewReader(swedish)}, Source{"no", "no", strings.NewReader(norwegian)})
	for _, tt := range []struct{ language, word, want string }{
		{"de", "mobil", "funker rollend taschenfon"},
		{"de", "taschenfon", "mobil"}, // two words under one head are no pair
		{"de", "fon", ""},
		{"de", "ruder", "paddel riemen"}, // a mark is of the marked word: in its own entry others have none
		{"de", "schuh", ""},
		{"da", "farve", "kulor nuance"},
		{"da", "rod", ""},
		{"da", "lytte", ""},
		{"sv", "tv", "brada burk"},
		{"no", "bat", "jolle"},
		{"no", "ordne", ""},
	} {
		if got := strings.Join(l.Synonyms(tt.language, tt.word), " "); got != tt.want {
			t.Errorf("Synonyms(%s, %s) = %q, want %q", tt.language, tt.word, got, tt.want)
		}
	}
}

// TestDebianFiles: each language has its own thesaurus, but Norwegian.
func TestDebianFiles(t *testing.T) {
	files, err := DebianFiles(languages(t, "sv,de,da,en,cs"))
	if err != nil || len(files) != 5 {
		t.Fatalf("%+v, %v", files, err)
	}
	for i, code := range []string{"cs", "da", "de", "en", "sv"} {
		if f := files[i]; f.Language != code || !strings.Contains(f.Path, "/th_"+code+"_") || !strings.HasPrefix(f.Package, "mythes-"+code) {
			t.Errorf("%s: %+v", code, f)
		}
	}
	if _, err := DebianFiles(languages(t, "en,no")); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), `"no"`) {
		t.Errorf("Norwegian: %v", err)
	}
}

func languages(t *testing.T, list string) words.Languages {
	t.Helper()
	in, err := words.ParseLanguages(list)
	if err != nil {
		t.Fatal(err)
	}
	return in
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

var (
	samples  = flag.Int("sample", 0, "pairs of each language that TestDebian prints, to be judged")
	thesauri = flag.String("languages", "cs,en", "languages whose thesauri TestDebian reads")
	extra    = flag.String("extra", "", "LANGUAGE=FILE of another thesaurus that TestDebian reads")
)

// TestDebian builds a lexicon from the real thesauri, and prints figures.
func TestDebian(t *testing.T) {
	files, err := DebianFiles(languages(t, *thesauri))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, err := os.Stat(f.Path); err != nil {
			t.Skipf("Debian's package %s is not installed", f.Package)
		}
	}
	if code, path, ok := strings.Cut(*extra, "="); ok {
		files = append(files, File{Language: code, Path: path})
	}
	path := filepath.Join(t.TempDir(), "lexicon")
	for _, f := range files {
		counts, err := BuildFile(t.Context(), path, f)
		if err != nil {
			t.Fatal(err)
		}
		info, _ := os.Stat(path)
		t.Logf("%+v, %d bytes", counts, info.Size())
		sample(t, path)
	}
	counts, err := BuildFile(t.Context(), path, files...)
	if err != nil || len(counts) != len(files) {
		t.Fatal(counts, err)
	}
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ language, word, synonym string }{
		{"en", "couch", "sofa"}, {"en", "sofa", "couch"}, {"cs", "levny", "dostupny"}, {"cs", "dostupny", "levny"},
		{"de", "handy", "mobiltelefon"}, {"de", "sofa", "couch"}, {"da", "tandem", "cykel"}, {"sv", "cykel", "velociped"},
	} {
		if strings.Contains(*thesauri, tt.language) && !slices.Contains(l.Synonyms(tt.language, tt.word), tt.synonym) {
			t.Errorf("%s: %s and %s are no pair", tt.language, tt.word, tt.synonym)
		}
	}
	for language, p := range map[string][2]string{"en": {"couch", "seat"}, "de": {"handy", "apparat"}, "da": {"butik", "boghandel"}} {
		if slices.Contains(l.Synonyms(language, p[0]), p[1]) {
			t.Errorf("%s: a broader or narrower term counts as a synonym: %q", language, p)
		}
	}
}

// sample prints some words of a lexicon, each with one of its synonyms.
func sample(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[3:]
	r := rand.New(rand.NewPCG(4, 2))
	var list []string
	for range *samples {
		w := strings.Split(lines[r.IntN(len(lines))], "\t")[1:]
		list = append(list, w[0]+" "+w[1+r.IntN(len(w)-1)])
	}
	if len(list) > 0 {
		t.Log(strings.Join(list, " · "))
	}
}
