package documents

import (
	"log/slog"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/fault"
	"adshard/search/spelling"
)

// TestVocabularySwitches: a vocabulary is prepared and not used until it is put in force, in whatever order the two documents come;
// while the one in force is not here, none is used; what is damaged, or made with other rules of words, replaces nothing.
func TestVocabularySwitches(t *testing.T) {
	k := NewVocabulary(slog.New(slog.DiscardHandler))
	texts := map[string]string{"a": spelling.Header() + "alpha 1\n", "b": spelling.Header() + "bravo 1\n", "c": spelling.Header() + "charlie 1\n"}
	words := func(name string) {
		t.Helper()
		if err := k.Put(backend.Document{Name: backend.VocabularyDocument}, backend.PackDocument(texts[name])); err != nil {
			t.Fatal(err)
		}
	}
	force := func(name string) {
		t.Helper()
		if err := k.Put(backend.Document{Name: backend.VocabularyInForce}, backend.PackDocument(spelling.VersionOf(texts[name]))); err != nil {
			t.Fatal(err)
		}
	}
	is := func(prepared, inForce string) {
		t.Helper()
		now := ""
		if v := k.InForce(); v != nil {
			now = v.Version()
		}
		if want := spelling.VersionOf(texts[inForce]); now != want {
			t.Errorf("in force is %q, want %q", now, want)
		}
		want := spelling.VersionOf(texts[prepared])
		if prepared == "" {
			want = NoVocabulary
		}
		if got := k.Prepared(); got != want {
			t.Errorf("prepared is %q, want %q", got, want)
		}
	}
	is("", "")
	force("b")
	is("", "")
	words("a") // the one in force is no longer to be had
	is("a", "")
	words("b")
	is("b", "b")
	words("c")
	is("c", "b")
	for _, bad := range []string{"", texts["a"] + "x", strings.Replace(texts["a"], "alpha 1", "alpha 0", 1)} {
		if err := k.Put(backend.Document{Name: backend.VocabularyDocument}, backend.PackDocument(bad)); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := k.Put(backend.Document{Name: backend.VocabularyDocument}, []byte("x")); !fault.Is(err, fault.Corrupt) {
		t.Errorf("not packed: %v", err)
	}
	if err := k.Put(backend.Document{Name: backend.VocabularyDocument}, backend.PackDocument(strings.Replace(texts["a"], "rules", "rulez", 1))); err != nil {
		t.Errorf("of other rules: %v", err)
	}
	is("c", "b")
	force("c")
	is("c", "c")
	force("a") // announced before it comes
	is("c", "")
	words("a")
	is("a", "a")
	k.Drop(backend.VocabularyInForce)
	is("a", "")
	force("a")
	is("a", "a")
	k.Drop(backend.VocabularyDocument)
	is("", "")
}
