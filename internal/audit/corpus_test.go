package audit

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
	// renewed are the questions whose answers were different with words from before rules 2.
	renewed []clustertest.Question
}

// openCorpus copies the chosen database, or imports the golden set of targeting.
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
	if chosen.db == "" {
		c.questions = clustertest.ImportTargeting(t, c.store)
	} else {
		queries, err := os.ReadFile(chosen.queries)
		if err != nil {
			t.Fatal(err)
		}
		c.questions = clustertest.Solve(t, c.store, clustertest.Lines(queries))
	}
	return c
}

// possessives is a file of texts that older words read differently, in a separate group: U+00AD and apostrophes split
// words, and marks of all scripts were dropped.
const possessives = `Account,Campaign,Ad Group,Max CPC,Keyword,Criterion Type,Final URL,Ad type,Headline 1,Description 1,Campaign Status,Ad Group Status,Status
Words,words,words,1.00,,,,,,,Enabled,Enabled,Enabled
Words,words,words,,,,https://words.example/,Responsive search ad,Words,Words,,,Enabled
Words,words,words,,zzkin's shoes,Broad,,,,,,,Enabled
Words,words,words,,zzhead\u00adphones,Exact,,,,,,,Enabled
Words,words,words,,zzheadphones,Exact,,,,,,,Enabled
Words,words,words,,バス zzbus,Broad,,,,,,,Enabled
`

// Queries for possessives: those whose answers are the same with older words, and the others.
var (
	kept    = []string{"zzkin's shoes", "バス zzbus"}
	renewed = []string{"zzkins shoes", "zzheadphones", "zzhead phones", "ハス zzbus"}
)

// importCorpus makes older programs import the golden corpus and possessives, into a database of their schema.
func importCorpus(t *testing.T, programs string) *corpus {
	t.Helper()
	dir := t.TempDir()
	c := &corpus{path: filepath.Join(dir, "ads.db")}
	for name, text := range map[string][]byte{
		"editor.csv":      goldentest.Read(t, "editor.csv.gz"),
		"possessives.csv": []byte(strings.ReplaceAll(possessives, `\u00ad`, "\u00ad")),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), filepath.Join(programs, "adshard"), "import", "--db", "sqlite:"+c.path, path).CombinedOutput()
		if err != nil {
			t.Fatalf("import by the older programs: %v\n%s", err, out)
		}
	}
	return c
}

// open opens, with this program, a database that older programs have open. Its schema becomes this program's while
// they run.
func (c *corpus) open(t *testing.T) {
	t.Helper()
	var err error
	if c.store, err = sqlite.Open(t.Context(), c.path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	c.questions = slices.Concat(clustertest.Solve(t, c.store, clustertest.Lines(goldentest.Read(t, "queries.txt"))),
		clustertest.Solve(t, c.store, kept))
	c.renewed = clustertest.Solve(t, c.store, renewed)
}

func startChanges(t *testing.T, store *sqlite.Store, targeted bool) *clustertest.Changes {
	t.Helper()
	c, err := clustertest.NewChanges(t.Context(), store, targeted)
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
