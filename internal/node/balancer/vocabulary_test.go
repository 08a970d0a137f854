package balancer

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/nodetest"
	"adshard/search/spelling"
)

// vocabularyRig is a balancer with a database, of which only the vocabulary is used.
type vocabularyRig struct {
	*nodetest.Database
	v *vocabulary
}

func newVocabularyRig(t *testing.T) *vocabularyRig {
	r := &vocabularyRig{Database: nodetest.NewDatabase(t)}
	r.Write(1, 2, 3, 500_000) // "word0 usb0 cable" and so on
	r.lead()
	return r
}

// lead makes another balancer the leader.
func (r *vocabularyRig) lead() {
	r.v = &vocabulary{b: &Balancer{db: r.DB, cfg: Config{MasterLease: time.Hour}, log: slog.New(slog.DiscardHandler), started: time.Now(), masterReports: masterReports{}}}
}

// look looks as if the pause between two counts had passed.
func (r *vocabularyRig) look() {
	r.T.Helper()
	r.v.next = time.Time{}
	r.Must(r.v.look(r.T.Context()))
}

// text returns a document's text, or "" if there is none.
func (r *vocabularyRig) text(name string) string {
	_, text, _, err := backend.LoadDocument(r.T.Context(), r.DB, name)
	if err != nil {
		return ""
	}
	return text
}

// addKeyword adds a keyword of one word.
func (r *vocabularyRig) addKeyword(word string) {
	r.T.Helper()
	ctx := r.T.Context()
	tx, err := r.DB.Begin(ctx)
	r.Must(err)
	defer func() { _ = tx.Rollback() }()
	r.Must(tx.Keyword(ctx, 1, backend.KeywordPatch{Text: word, Words: word, Status: backend.Pause}))
	r.Must(tx.Commit(ctx))
}

// is checks the words of the saved vocabulary, and whether it is in force.
func (r *vocabularyRig) is(inForce bool, lines ...string) {
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
	r := newVocabularyRig(t)
	r.look()
	r.is(true, "cable 6")
	saved, force := r.v.saved, r.v.force
	r.look()
	r.lead()
	r.look() // the next leader counts again, and finds nothing new
	if r.v.saved != saved || r.v.force != force {
		t.Error("an unchanged vocabulary was saved again")
	}
	r.addKeyword("wireless") // a paused keyword's words count, too
	r.Must(r.v.look(t.Context()))
	r.is(true, "cable 6") // not before the pause is over
	r.look()
	r.is(true, "cable 6", "wireless 1")
}

// TestVocabularyWaitsForMasters: it is put in force when all masters that know vocabularies have prepared it, or when those that have
// not are without a lease, or it has waited for as long as a lease.
func TestVocabularyWaitsForMasters(t *testing.T) {
	r := newVocabularyRig(t)
	r.look()
	was := r.v.version
	a, b := &masterReport{vocabulary: was}, &masterReport{vocabulary: was}
	r.v.b.masterReports = masterReports{"a": a, "b": b, "of an earlier version": new(masterReport)}
	r.addKeyword("wireless")
	r.look()
	r.is(false, "cable 6", "wireless 1")
	a.vocabulary = r.v.version
	r.look()
	r.is(false, "cable 6", "wireless 1") // b is slow, or frozen
	r.lead()                             // the next leader goes on waiting
	r.v.b.masterReports = masterReports{"a": a, "b": b}
	r.look()
	r.is(false, "cable 6", "wireless 1")
	b.vocabulary = r.v.version
	r.look()
	r.is(true, "cable 6", "wireless 1")

	r.addKeyword("keyboard")
	r.look()
	r.is(false, "cable 6", "keyboard 1", "wireless 1")
	a.vocabulary = r.v.version
	b.received = -2 * time.Hour // its lease is over
	r.look()
	r.is(true, "cable 6", "keyboard 1", "wireless 1")

	r.addKeyword("mouse")
	b.received = 0
	r.look()
	r.is(false, "cable 6", "keyboard 1", "mouse 1", "wireless 1")
	r.v.waits = r.v.waits.Add(-time.Hour) // a that never gets it does not hold up the others
	r.look()
	r.is(true, "cable 6", "keyboard 1", "mouse 1", "wireless 1")
}

// TestVocabularyIsReplaced: one that cannot be read, or was made with other rules of words, is replaced at the next look.
func TestVocabularyIsReplaced(t *testing.T) {
	for name, text := range map[string]string{"other rules": strings.Replace(spelling.Header(), "rules", "rulez", 1) + "cable 7\n", "none": "?"} {
		t.Run(name, func(t *testing.T) {
			r := newVocabularyRig(t)
			r.look()
			_, err := r.DB.SaveDocument(t.Context(), backend.VocabularyDocument, r.v.saved.Version, backend.PackDocument(text))
			r.Must(err)
			r.Must(r.v.look(t.Context()))
			r.is(true, "cable 6")
		})
	}
}
