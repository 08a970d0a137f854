package rocks_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"adshard/barrels/barreltest"
	"adshard/barrels/bulk"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
)

// build writes a store offline, items from two goroutines.
func build(t barreltest.TB, dir string, d *pb.NodeData) {
	t.Helper()
	runs, err := rocks.NewRuns(dir, rocks.Options{})
	if err != nil {
		t.Fatalf("new runs: %v", err)
	}
	b, err := bulk.New(runs)
	if err != nil {
		t.Fatalf("new builder: %v", err)
	}
	if err := b.AddParents(d.Advertisers, d.Campaigns); err != nil {
		t.Fatalf("parents: %v", err)
	}
	var wait sync.WaitGroup
	var errs [2]error
	for w := range errs {
		wait.Go(func() {
			for i := w; i < len(d.Items) && errs[w] == nil; i += len(errs) {
				errs[w] = b.Add(d.Items[i])
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatalf("add: %v", err)
		}
	}
	if err := b.Finish(d.To, d.Slices); err != nil {
		t.Fatalf("finish: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// TestBuiltStores: a store built offline answers as the oracle does, and goes
// on with changes from its position.
func TestBuiltStores(t *testing.T) {
	lex := oracletest.Lexicon()
	few(t, 10, func(rt *rapid.T) {
		w := oracletest.Draw(rt)
		b := barreltest.NewBuilder(rt, &w)
		dir := filepath.Join(t.TempDir(), "store")
		build(rt, dir, b.All())
		s, err := openStore(dir, rocks.Options{CacheBytes: 512 << 10})
		if err != nil {
			rt.Fatalf("open: %v", err)
		}
		defer s.Close()
		r := oracletest.DrawRequest(rt, w)
		barreltest.SameAnswer(rt, s, barreltest.Judge(rt, &w, lex), r, lex)
		barreltest.SameStats(rt, s, &w)
		changes := w.Mutate(rt)
		if err := s.Apply(t.Context(), b.Changes(s.Position(), changes)); err != nil {
			rt.Fatalf("apply: %v", err)
		}
		barreltest.SameAnswer(rt, s, barreltest.Judge(rt, &w, lex), r, lex)
		barreltest.SameStats(rt, s, &w)
	})
}

// few runs a property some times only: each time costs many syncs of files.
func few(t *testing.T, times int, property func(*rapid.T)) {
	g := rapid.Custom(func(rt *rapid.T) bool {
		property(rt)
		return true
	})
	for i := range times {
		g.Example(i)
	}
}

func TestRunsRefuseWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := rocks.NewRuns(dir, rocks.Options{}); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a directory with files: %v", err)
	}
}

func BenchmarkBuild(b *testing.B) {
	c := barreltest.LoadCorpus(b, *keywords)
	for b.Loop() {
		build(b, filepath.Join(b.TempDir(), "store"), c.Data)
	}
	b.ReportMetric(float64(c.Keywords()*b.N)/b.Elapsed().Seconds(), "keywords/s")
}
