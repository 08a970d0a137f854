package rocks_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/bulk"
	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
)

// build writes a store offline, with items from two goroutines.
func build(t barreltest.TB, dir string, d *pb.NodeData) {
	t.Helper()
	runs, err := rocks.NewRuns(dir, rocks.Options{})
	if err != nil {
		t.Fatalf("new runs: %v", err)
	}
	b, err := bulk.New(runs, 0)
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

// TestBuiltStores: a store built offline answers as the oracle does, and accepts changes
// from its position on.
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

// TestBuiltStoresAreFedOnes: a store built offline has the same entries, byte for byte,
// as one to which the same items were applied, except for counters of states.
func TestBuiltStoresAreFedOnes(t *testing.T) {
	few(t, 5, func(rt *rapid.T) {
		w := oracletest.Draw(rt)
		all := barreltest.NewBuilder(rt, &w).All()
		dir := filepath.Join(t.TempDir(), "store")
		build(rt, dir, all)
		built, err := rocks.Open(dir, rocks.Options{})
		if err != nil {
			rt.Fatalf("open: %v", err)
		}
		defer built.Close()
		fed := memory.NewDB()
		s, err := barrels.Open(fed, barrels.Options{})
		if err != nil {
			rt.Fatalf("open the fed store: %v", err)
		}
		defer s.Close()
		if err := s.Apply(t.Context(), all); err != nil {
			rt.Fatalf("apply: %v", err)
		}
		for f := range kv.Family(kv.Families) {
			want, got := entries(fed, f), entries(built, f)
			for key, value := range want {
				if got[key] != value {
					rt.Fatalf("%s, key %x: fed %x, built %x", f, key, value, got[key])
				}
			}
			if len(got) != len(want) {
				rt.Fatalf("%s: fed %d entries, built %d", f, len(want), len(got))
			}
		}
	})
}

// entries returns all entries of a family.
func entries(db kv.DB, f kv.Family) map[string]string {
	s := db.Snapshot()
	defer s.Close()
	it := s.Full(f)
	defer it.Close()
	all := make(map[string]string)
	for ok := it.Seek(nil); ok; ok = it.Next() {
		all[string(it.Key())] = string(it.Value())
	}
	return all
}

// few runs a property only some times, because each run costs many syncs of files.
func few(t *testing.T, times int, property func(*rapid.T)) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	set := func(n string) {
		if err := checks.Value.Set(n); err != nil {
			t.Fatal(err)
		}
	}
	set(strconv.Itoa(times))
	defer set(before)
	rapid.Check(t, property)
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
