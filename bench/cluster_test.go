package bench

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"adshard/backend/sqlite"
	"adshard/bench/measure"
	"adshard/ingest"
	"adshard/internal/node/offline"
	"adshard/internal/node/up"
)

// do runs a subcommand and returns its report.
func do(t *testing.T, c *cobra.Command, args ...string) (*measure.Report, error) {
	t.Helper()
	var out bytes.Buffer
	file := filepath.Join(t.TempDir(), "report.json")
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(append(args, "--json", file))
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.ExecuteContext(t.Context()); err != nil {
		return nil, err
	}
	if out.Len() == 0 {
		t.Error("nothing was shown")
	}
	return measure.ReadFile(file)
}

// world makes a corpus, a database, and one store built from it.
func world(t *testing.T) (dir, db string) {
	t.Helper()
	dir = t.TempDir()
	ads := filepath.Join(dir, "ads.csv")
	c := CorpusCommand()
	c.SetOut(io.Discard)
	c.SetArgs([]string{"--keywords", "2000", "--data", "extract", "--out", ads,
		"--queries", filepath.Join(dir, "queries.txt"), "--query-count", "300"})
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := ingest.Run(t.Context(), store, []string{ads}, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	return dir, "sqlite:" + filepath.Join(dir, "ads.db")
}

func TestStoreMeasuresOneStore(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // the command sets 1
	dir, db := world(t)
	cfg := offline.DefaultConfig()
	cfg.DB, cfg.Slaves, cfg.Out = db, 1, filepath.Join(dir, "built")
	if _, err := offline.Build(t.Context(), cfg, nil); err != nil {
		t.Fatal(err)
	}
	queries := filepath.Join(dir, "queries.txt")
	r, err := do(t, StoreCommand(), "--barrels", filepath.Join(cfg.Out, "slave-0"), "--queries", queries, "--rounds", "2", "--exact")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"search median", "queries with ads", "keywords", "disk per keyword", "blocks read", "allocations"} {
		if f, ok := r.Find(name); !ok || f.Value <= 0 {
			t.Errorf("%s is %v", name, f.Value)
		}
	}
	for _, n := range r.Notes {
		if strings.Contains(n, "careful") {
			t.Error(n)
		}
	}
	for name, args := range map[string][]string{
		"not a store":   {"--barrels", cfg.Out, "--queries", queries},
		"no queries":    {"--barrels", filepath.Join(cfg.Out, "slave-0")},
		"device":        {"--barrels", cfg.Out, "--queries", queries, "--device", "fridge"},
		"profile":       {"--barrels", cfg.Out, "--queries", queries, "--profile", "x"},
		"variants":      {"--barrels", cfg.Out, "--queries", queries, "--variants", "x"},
		"rounds":        {"--barrels", cfg.Out, "--queries", queries, "--rounds", "0"},
		"empty queries": {"--barrels", cfg.Out, "--queries", os.DevNull},
	} {
		if _, err := do(t, StoreCommand(), args...); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, "CURRENT")); err == nil {
		t.Error("a store was made where there was none")
	}
}

// TestLoadAndFreshOnCluster measures a whole cluster, briefly.
func TestLoadAndFreshOnCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a whole cluster")
	}
	dir, db := world(t)
	addr, admin := startCluster(t, dir, db)
	queries := filepath.Join(dir, "queries.txt")
	for _, rate := range []string{"0", "200"} {
		r, err := do(t, LoadCommand(), "--addr", addr, "--queries", queries, "--rate", rate,
			"--warmup", "100ms", "--duration", "500ms", "--params", "slots=2&device=mobile")
		if err != nil {
			t.Fatal(err)
		}
		complete, _ := r.Find("complete")
		ads, _ := r.Find("ads")
		refused, _ := r.Find("refused (400)")
		if complete.Value == 0 || ads.Value == 0 || ads.Value > 2 || refused.Value > 0 {
			t.Errorf("rate %s: %+v", rate, r.Figures)
		}
	}
	r, err := do(t, FreshCommand(), "--db", db, "--addr", addr, "--admin", admin, "--changes", "4")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Figures) != 8 {
		t.Errorf("%d figures, want the median and maximum of four kinds", len(r.Figures))
	}
	if n := ofBench(t, db); n != 0 {
		t.Errorf("%d advertisers of the measurement are left", n)
	}
}

// startCluster starts a cluster of two slaves, which runs until the test ends.
func startCluster(t *testing.T, dir, db string) (addr, admin string) {
	t.Helper()
	_, addr, admin = runCluster(t, dir, db, func(*up.Config) {})
	return addr, admin
}

// runCluster is startCluster with a change to the configuration; stop ends the cluster
// before the test ends.
func runCluster(t *testing.T, dir, db string, change func(*up.Config)) (stop func(), addr, admin string) {
	t.Helper()
	cfg := up.DefaultConfig()
	cfg.DB, cfg.Slaves, cfg.Data = db, 2, filepath.Join(dir, "data")
	cfg.HTTP, cfg.Admin = "127.0.0.1:0", "127.0.0.1:0"
	change(&cfg)
	ctx, cancel := context.WithCancel(t.Context())
	lines, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := up.Run(ctx, cfg, out, slog.New(slog.DiscardHandler))
		out.CloseWithError(io.EOF)
		ended <- err
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		go func() { _, _ = io.Copy(io.Discard, lines) }()
		<-ended
	})
	t.Cleanup(stop)
	for s := bufio.NewScanner(lines); s.Scan(); {
		name, rest, _ := strings.Cut(s.Text(), " ")
		switch name {
		case "admin":
			admin = rest
		case "ready":
			return stop, rest, admin
		}
	}
	t.Fatalf("the cluster is not ready: %v", <-ended)
	return nil, "", ""
}

// ofBench returns the number of advertisers that a measurement has left behind.
func ofBench(t *testing.T, db string) (n int) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), strings.TrimPrefix(db, "sqlite:"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Advertisers(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if strings.HasPrefix(a.Name, "adbench") {
			n++
		}
	}
	return n
}
