package faults

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"adshard/internal/clustertest"
)

// importKilled kills an import, and runs it again later. After that everything that it imports must be there once.
type importKilled struct{ after time.Duration }

func killedImport(dice *rand.Rand, _ *schedule) fault {
	return importKilled{time.Duration(dice.IntN(1000)) * time.Millisecond}
}

func (f importKilled) String() string  { return fmt.Sprint("after ", f.after) }
func (importKilled) touches() []string { return []string{"database"} }

// imported is the number of ad groups in the import, each of a separate advertiser, all for one word.
const (
	imported     = 200
	importedWord = "zzimport"
)

func (f importKilled) do(g *grid) error {
	ctx, cancel := context.WithTimeout(context.Background(), f.after)
	defer cancel()
	if err := g.runImport(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func (importKilled) undo(g *grid) error {
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Second) {
		if err = g.runImport(context.Background()); err == nil {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.imported = true
			return nil
		}
	}
	return err
}

// migrationKilled copies the database with adshard db migrate, which is killed. The copy must be refused, or be
// complete.
type migrationKilled struct{ after time.Duration }

func killedMigration(dice *rand.Rand, _ *schedule) fault {
	return migrationKilled{time.Duration(dice.IntN(1500)) * time.Millisecond}
}

func (f migrationKilled) String() string  { return fmt.Sprint("after ", f.after) }
func (migrationKilled) touches() []string { return []string{"database"} }

func (f migrationKilled) do(g *grid) error {
	defer g.changing.Pause()()
	return clustertest.KilledMigration(g.database.url, g.dir, f.after)
}

func (migrationKilled) undo(*grid) error { return nil }

// outputs runs commands with the path of the database, a file, as their output.
type outputs struct{}

func outputsOntoData(_ *rand.Rand, s *schedule) fault {
	if s.database != "sqlite" {
		return nil
	}
	return outputs{}
}

func (outputs) String() string    { return "all kinds" }
func (outputs) touches() []string { return []string{"database"} }
func (outputs) do(g *grid) error  { return clustertest.OutputsOntoData(g.database.path, g.dir) }
func (outputs) undo(*grid) error  { return nil }

// runImport runs adshard import until it ends, and kills it when ctx is done.
func (g *grid) runImport(ctx context.Context) error {
	var rows bytes.Buffer
	for i := range imported {
		fmt.Fprintf(&rows, `{"type":"keyword","advertiser":"Imported %[1]d","campaign":"c","group":"g","text":"%[2]s","match_type":"broad","max_cpc_micros":1000000}`+"\n", i, importedWord)
		fmt.Fprintf(&rows, `{"type":"ad","advertiser":"Imported %[1]d","campaign":"c","group":"g","headlines":["h"],"descriptions":["d"],"final_url":"https://imported.example/"}`+"\n", i)
	}
	file := filepath.Join(g.dir, "import.jsonl")
	if err := os.WriteFile(file, rows.Bytes(), 0o600); err != nil {
		return err
	}
	return clustertest.Adshard(ctx, "import", "--db", g.database.url, file)
}

// hasImported queries for everything that was imported.
func (g *grid) hasImported(ask func(url.Values) (clustertest.Answer, error)) (a clustertest.Answer, wrong string, err error) {
	a, err = ask(url.Values{"q": {importedWord}, "slots": {"4"}, "variants": {"folded"}, "counts": {"exact"}})
	if err == nil && a.Coverage.Complete && (a.Matched != imported || len(a.Ads) != 4) {
		wrong = fmt.Sprintf("%d matched, %d ads, want %d and 4", a.Matched, len(a.Ads), imported)
	}
	return a, wrong, err
}
