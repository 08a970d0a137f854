package vocabulary

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/nodetest"
	"adshard/search/spelling"
)

// rig is a database whose vocabulary is made.
type rig struct {
	*nodetest.Database
	m       *Maker
	masters map[string]string // the versions that they have prepared
}

func newRig(t *testing.T) *rig {
	r := &rig{Database: nodetest.NewDatabase(t)}
	r.Write(1, 2, 3, 500_000) // "word0 usb0 cable" and so on
	r.lead()
	return r
}

// lead makes another balancer the leader.
func (r *rig) lead() {
	r.m = New(Config{DB: r.DB, Patience: time.Hour, Log: slog.New(slog.DiscardHandler), Prepared: func(version string) bool {
		for _, has := range r.masters {
			if has != version {
				return false
			}
		}
		return true
	}})
}

// look looks as if the pause between two counts had passed.
func (r *rig) look() {
	r.T.Helper()
	r.m.next = time.Time{}
	r.Must(r.m.look(r.T.Context()))
}

// text returns a document's text, or "" if there is none.
func (r *rig) text(name string) string {
	_, text, _, err := backend.LoadDocument(r.T.Context(), r.DB, name)
	if err != nil {
		return ""
	}
	return text
}

// addKeyword adds a keyword of one word.
func (r *rig) addKeyword(word string) {
	r.T.Helper()
	ctx := r.T.Context()
	tx, err := r.DB.Begin(ctx)
	r.Must(err)
	defer func() { _ = tx.Rollback() }()
	r.Must(tx.Keyword(ctx, 1, backend.KeywordPatch{Text: word, Words: word, Status: backend.Pause}))
	r.Must(tx.Commit(ctx))
}

// is checks the words of the saved vocabulary, and whether it is in force.
func (r *rig) is(inForce bool, lines ...string) {
	r.T.Helper()
	text := r.text(backend.VocabularyDocument)
	if want := spelling.Header() + strings.Join(lines, "\n") + "\n"; text != want {
		r.T.Fatalf("%q, want %q", text, want)
	}
	if (r.text(backend.VocabularyInForce) == spelling.VersionOf(text)) != inForce {
		r.T.Fatalf("in force is %q, the vocabulary has version %s", r.text(backend.VocabularyInForce), spelling.VersionOf(text))
	}
}

func TestVocabularyIsCounted(t *testing.T) {
	r := newRig(t)
	r.look()
	r.is(true, "cable 6")
	saved, force := r.m.saved, r.m.force
	r.look()
	r.lead()
	r.look() // the next leader counts again, and finds nothing new
	if r.m.saved != saved || r.m.force != force {
		t.Error("an unchanged vocabulary was saved again")
	}
	r.addKeyword("wireless") // a paused keyword's words count, too
	r.Must(r.m.look(t.Context()))
	r.is(true, "cable 6") // only after the pause
	r.look()
	r.is(true, "cable 6", "wireless 1")
}

// TestVocabularyWaitsForMasters: it is put in force when all masters have prepared it, or when it has waited for as long as it may.
func TestVocabularyWaitsForMasters(t *testing.T) {
	r := newRig(t)
	r.masters = map[string]string{"a": "none"}
	r.look()
	r.is(true, "cable 6") // the first replaces none
	was := r.m.version
	r.masters = map[string]string{"a": was, "b": was}
	r.addKeyword("wireless")
	r.look()
	r.is(false, "cable 6", "wireless 1")
	r.masters["a"] = r.m.version
	r.look()
	r.is(false, "cable 6", "wireless 1") // b is slow, or frozen
	r.lead()                             // the next leader goes on waiting
	r.look()
	r.is(false, "cable 6", "wireless 1")
	r.masters["b"] = r.m.version
	r.look()
	r.is(true, "cable 6", "wireless 1")

	r.addKeyword("mouse")
	r.look()
	r.is(false, "cable 6", "mouse 1", "wireless 1")
	r.m.waits = r.m.waits.Add(-time.Hour) // a master that never gets it does not hold up the others
	r.look()
	r.is(true, "cable 6", "mouse 1", "wireless 1")
}

// TestVocabularyIsReplaced: one that cannot be read, or was made with other rules of words, is replaced at the next look.
func TestVocabularyIsReplaced(t *testing.T) {
	for name, text := range map[string]string{"other rules": strings.Replace(spelling.Header(), "rules", "rulez", 1) + "cable 7\n", "none": "?"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.look()
			_, err := r.DB.SaveDocument(t.Context(), backend.VocabularyDocument, r.m.saved.Version, backend.PackDocument(text))
			r.Must(err)
			r.Must(r.m.look(t.Context()))
			r.is(true, "cable 6")
		})
	}
}
