package words

import (
	"bytes"
	"strings"
	"testing"

	"adshard/fault"
)

func lexiconBytes(t testing.TB, lines ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteLexicon(&b, lines); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLexicon(t *testing.T) {
	b := lexiconBytes(t, "cs\tauto\tvuz", "cs\tvuz\tauto", "en\tcouch\tlounge\tsofa", "en\tlounge\tcouch", "en\tsofa\tcouch")
	l, err := ReadLexicon(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(l.Synonyms("en", "couch"), " "); got != "lounge sofa" {
		t.Errorf("synonyms of couch: %q", got)
	}
	if got := l.Synonyms("cs", "couch"); got != nil {
		t.Errorf("Czech synonyms of couch: %q", got)
	}
	if l.Pairs() != 3 || len(l.Hash()) != 64 {
		t.Errorf("%d pairs, hash %q", l.Pairs(), l.Hash())
	}
	if n := testing.AllocsPerRun(100, func() { l.Synonyms("en", "couch") }); n != 0 {
		t.Errorf("Synonyms allocates %v times", n)
	}
}

func TestNoLexicon(t *testing.T) {
	var l *Lexicon
	if l.Synonyms("en", "couch") != nil || l.Hash() != "" || l.Pairs() != 0 {
		t.Error("the nil lexicon has words")
	}
}

func TestLexiconDamaged(t *testing.T) {
	good := lexiconBytes(t, "en\tcouch\tsofa", "en\tsofa\tcouch")
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 1
		if _, err := ReadLexicon(bytes.NewReader(b)); !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Version) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := ReadLexicon(bytes.NewReader(good[:i])); !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Version) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	for _, line := range []string{"", "en", "en\tcouch", "\tcouch\tsofa", "en\t\tsofa", "en\t\xff\tsofa"} {
		if _, err := ReadLexicon(bytes.NewReader(lexiconBytes(t, line))); !fault.Is(err, fault.Corrupt) {
			t.Errorf("line %q: %v", line, err)
		}
	}
}

func TestLexiconVersion(t *testing.T) {
	good := string(lexiconBytes(t, "en\tcouch\tsofa", "en\tsofa\tcouch"))
	for _, tt := range []struct{ name, text, want string }{
		{"newer format", strings.Replace(good, LexiconFormat, "adshard lexicon 2", 1), "adshard lexicon 2"},
		{"other tables", strings.Replace(good, LexiconTables(), "folded by unicode 9.0.0", 1), "unicode 9.0.0"},
	} {
		_, err := ReadLexicon(strings.NewReader(tt.text))
		if !fault.Is(err, fault.Version) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func FuzzLexicon(f *testing.F) {
	f.Add(lexiconBytes(f, "en\tcouch\tsofa", "en\tsofa\tcouch"))
	f.Add([]byte(LexiconFormat))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ReadLexicon(bytes.NewReader(b))
		if err != nil && !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Version) {
			t.Fatal(err)
		}
		l.Synonyms("en", "couch")
		_, _ = parseLexicon(string(b), "")
	})
}
