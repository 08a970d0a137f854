package audit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"adshard/backend/sqlite"
	"adshard/internal/clustertest"
	"adshard/internal/goldentest"
)

// corpus is a database and the questions asked of it.
type corpus struct {
	path      string
	store     *sqlite.Store
	questions []clustertest.Question
}

// openCorpus copies the chosen database, or imports the golden one.
func openCorpus(t *testing.T) *corpus {
	t.Helper()
	c := &corpus{path: filepath.Join(t.TempDir(), "ads.db")}
	if chosen.db != "" {
		copyFile(t, chosen.db, c.path)
	}
	var err error
	if c.store, err = sqlite.Open(t.Context(), c.path, sqlite.Options{Create: chosen.db == ""}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	var texts []string
	if chosen.db == "" {
		texts = clustertest.ImportGolden(t, c.store)
	} else {
		queries, err := os.ReadFile(chosen.queries)
		if err != nil {
			t.Fatal(err)
		}
		texts = clustertest.Lines(queries)
	}
	c.questions = clustertest.Solve(t, c.store, texts)
	return c
}

// importCorpus has programs of before import the golden corpus, into a database of their schema.
func importCorpus(t *testing.T, programs string) *corpus {
	t.Helper()
	dir := t.TempDir()
	c, editor := &corpus{path: filepath.Join(dir, "ads.db")}, filepath.Join(dir, "editor.csv")
	if err := os.WriteFile(editor, goldentest.Read(t, "editor.csv.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(programs, "adshard"), "import", "--db", "sqlite:"+c.path, editor).CombinedOutput()
	if err != nil {
		t.Fatalf("import by the programs of before: %v\n%s", err, out)
	}
	return c
}

// open has this program open a database that others have open. Their schema becomes this one's under them.
func (c *corpus) open(t *testing.T) {
	t.Helper()
	var err error
	if c.store, err = sqlite.Open(t.Context(), c.path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	c.questions = clustertest.Solve(t, c.store, clustertest.Lines(goldentest.Read(t, "queries.txt")))
}

func startChanger(t *testing.T, store *sqlite.Store) *clustertest.Changer {
	t.Helper()
	c, err := clustertest.NewChanger(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
