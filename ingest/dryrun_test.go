package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/ingest"
)

// randomRows returns an Editor file of random rows, many of which change the same entities.
func randomRows(random *rand.Rand, rows int) string {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	var b strings.Builder
	b.WriteString("Account,Campaign,Ad Group,Keyword,Criterion Type,Headline 1,Max CPC,Languages,Campaign Status,Ad Group Status,Status\n")
	for range rows {
		status := func() string { return pick("", "", "", "", "Enabled", "Paused", "Removed") }
		cells := []string{pick("A", "B"), pick("C", "D"), pick("", "G", "H"), pick("", "", "k", "l", "m"),
			pick("", "Exact", "Negative Broad", "Campaign Negative Broad"), pick("", "h"), pick("", "1", "2", "[]"), pick("", "", "en", "cs", "[]"),
			pick("", "", "", status()), pick("", "", "", status()), status()}
		if cells[3] == "" {
			cells[4] = ""
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	return b.String()
}

// TestDryRunFindsWhatIsCounted: for random files, a dry run finds the differences that its summary counts, its
// summary is that of the import itself, and the database stays as it is.
func TestDryRunFindsWhatIsCounted(t *testing.T) {
	for seed := range uint64(15) {
		random := rand.New(rand.NewPCG(seed, 7))
		dir := t.TempDir()
		path := filepath.Join(dir, "ads.db")
		store := openDatabase(t, path)
		defer store.Close()
		for range 3 {
			text := randomRows(random, 40)
			options := func() ingest.Options {
				return ingest.Options{Stdin: strings.NewReader(text), BatchRows: 1 + random.IntN(50)}
			}
			was := contents(t, store)
			copied, err := sqlite.OpenScratch(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var found [backend.Entities]ingest.EffectCounts
			dry, err := ingest.DryRun(t.Context(), copied, []string{"-"}, options(), func(d *ingest.Difference) error {
				switch n := &found[d.Entity]; d.Effect {
				case backend.Created:
					n.Created++
				case backend.Changed:
					n.Changed++
				case backend.Removed:
					n.Removed++
				}
				return nil
			})
			if err != nil || contents(t, store) != was {
				t.Fatalf("seed %d: %v, or the database was changed", seed, err)
			}
			sum, err := ingest.Run(t.Context(), store, []string{"-"}, options())
			if err != nil || sum.Rejected != dry.Rejected || contents(t, store) != contents(t, copied) {
				t.Fatalf("seed %d: %v, or the dry run did something else", seed, err)
			}
			for e, n := range dry.Entities {
				// A change that a later transaction undoes is counted, but is not a difference.
				if f := found[e]; f.Created != n.Created || f.Removed != n.Removed || f.Changed > n.Changed || n.Created != sum.Entities[e].Created ||
					n.Removed != sum.Entities[e].Removed {
					t.Errorf("seed %d: %s: found %+v, counted %+v, imported %+v", seed, backend.Entity(e), f, n, sum.Entities[e])
				}
			}
			if err := copied.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDryRunOfABrokenFile: the rows before the fault, which an import would keep, are shown.
func TestDryRunOfABrokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("Account,Campaign\nA,C\nA,\"D\"x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	var found []string
	_, err := ingest.DryRun(t.Context(), store, []string{path}, ingest.Options{BatchRows: 1}, func(d *ingest.Difference) error {
		found = append(found, fmt.Sprint(d.Entity, " ", d.Advertiser, d.Campaign))
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "row 3") || fmt.Sprint(found) != "[advertiser A campaign AC]" {
		t.Errorf("%v, %v", found, err)
	}
}
