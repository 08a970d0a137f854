package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adshard/balance/strategy"
	"adshard/bench/compare"
	"adshard/internal/cli"
)

// asProgram is the environment variable that makes this test's program act as adshard, for
// clusters of real processes.
const asProgram = "ADBENCH_TEST_AS_ADSHARD"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := cli.Main(ctx, "adshard", os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(status)
}

// program returns the path of this test's program, which is to be run as adshard.
func program(t *testing.T) string {
	t.Helper()
	t.Setenv(asProgram, "1")
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// balanced runs the subcommand balance on a small corpus and returns the comparison and the
// page.
func balanced(t *testing.T, args ...string) (*compare.Comparison, string, error) {
	t.Helper()
	dir := t.TempDir()
	var out bytes.Buffer
	c := BalanceCommand()
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(append([]string{"--keywords", "1000", "--data", "extract",
		"--json", filepath.Join(dir, "c.json"), "--html", filepath.Join(dir, "c.html")}, args...))
	if err := c.ExecuteContext(t.Context()); err != nil {
		return nil, "", err
	}
	raw, err := os.ReadFile(filepath.Join(dir, "c.json"))
	if err != nil {
		t.Fatal(err)
	}
	got := new(compare.Comparison)
	if err := json.Unmarshal(raw, got); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "c.html"))
	if err != nil || !strings.Contains(out.String(), "$ ") {
		t.Fatalf("%v; shown:\n%s", err, out.String())
	}
	return got, string(page), nil
}

func TestStudy(t *testing.T) {
	c, page, err := balanced(t, "--study", "--workload", "real,single", "--study-slaves", "1,3", "--strategies", "original,random,weighted-move")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Study) != 2*2*4 || !strings.Contains(page, "Placements against each query&#39;s bound") {
		t.Fatalf("%d rows", len(c.Study))
	}
	for _, p := range c.Study {
		if p.Expected < 1-1e-9 || p.MaxOverMean < p.Bound*(1-1e-9) || p.Mean < p.BoundMean*(1-1e-9) || p.Mean <= 0 {
			t.Errorf("better than can be: %+v", p)
		}
		for _, r := range p.Ratios {
			if r.Counted > 0 && (r.P50 < 1-1e-9 || r.P99 < r.P50 || r.Max < r.P99) || r.Counted > 1+1e-9 {
				t.Errorf("queries better than can be: %+v", p)
			}
		}
		if len(p.Ratios) != 5 {
			t.Errorf("%d cost models", len(p.Ratios))
		}
		if (p.Course == nil) != (p.Placement == compare.RandomGroups) {
			t.Errorf("course: %+v", p)
		}
		if p.Slaves == 1 && p.Expected > 1+1e-9 {
			t.Errorf("one slave: %+v", p)
		}
	}
}

// TestTopicsOfRealQueries: with the built-in extract's corpus and queries on ten slaves, what a
// query's slowest slave has above the query's bound is at least a tenth less with topics than
// with random groups: in the median, at p90 and on average.
func TestTopicsOfRealQueries(t *testing.T) {
	c, _, err := balanced(t, "--keywords", "20000", "--study", "--workload", "real", "--order", "hash", "--study-slaves", "10", "--strategies", "topics")
	if err != nil {
		t.Fatal(err)
	}
	random, topics := c.Study[0], c.Study[1]
	a, b := random.Ratios[0], topics.Ratios[0]
	t.Logf("excess: median %.3f and %.3f, p90 %.3f and %.3f, mean %.3f and %.3f", a.P50-1, b.P50-1, a.P90-1, b.P90-1, a.Mean-1, b.Mean-1)
	if a.Costs != compare.WorkAlone || b.P50-1 > 0.9*(a.P50-1) || b.P90-1 > 0.9*(a.P90-1) || b.Mean-1 > 0.9*(a.Mean-1) || topics.MaxOverMean > random.MaxOverMean {
		t.Errorf("random groups: %+v, topics: %+v", a, b)
	}
}

// TestUsualOrder: groups are ordered by hash, as in clusters, unless a strategy needs whole
// advertisers; the table names the order.
func TestUsualOrder(t *testing.T) {
	for order, args := range map[string][]string{"hash": {"--strategies", "random"}, "advertiser": {"--strategies", "random,original"}} {
		c, page, err := balanced(t, append([]string{"--study", "--study-slaves", "2", "--workload", "real"}, args...)...)
		if err != nil || c.Order != order || !strings.Contains(page, "keys by "+order) {
			t.Errorf("%v: %v, %v", args, c, err)
		}
	}
}

// TestAllStrategies: a study can have every strategy.
func TestAllStrategies(t *testing.T) {
	c, page, err := balanced(t, "--study", "--workload", "shift", "--study-slaves", "3", "--strategies", "all")
	if err != nil {
		t.Fatal(err)
	}
	if want := len(strategy.Names()) + 1; len(c.Study) != want {
		t.Errorf("%d rows, want %d", len(c.Study), want)
	}
	for _, name := range strategy.Names() {
		if !strings.Contains(page, "<h2>Strategy "+name+"</h2>") {
			t.Errorf("no table of %s", name)
		}
	}
	for _, p := range c.Study {
		if p.Course != nil && p.Course.Shift == nil {
			t.Errorf("%s: no shift", p.Placement)
		}
	}
	if !strings.Contains(page, "Ranked by workload") {
		t.Error("no ranks")
	}
	if _, _, err := balanced(t, "--iteration"); err == nil || !strings.Contains(err.Error(), "--study") {
		t.Errorf("--iteration alone: %v", err)
	}
}

// TestFrom checks that a comparison can be shown again, as the same page, without what
// measuring needs.
func TestFrom(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) error {
		c := BalanceCommand()
		var out bytes.Buffer
		c.SetOut(&out)
		c.SetErr(&out)
		c.SilenceErrors, c.SilenceUsage = true, true
		c.SetArgs(args)
		return c.ExecuteContext(t.Context())
	}
	file, first, second := filepath.Join(dir, "c.json"), filepath.Join(dir, "1.html"), filepath.Join(dir, "2.html")
	err := run("--study", "--keywords", "1000", "--data", "extract", "--workload", "single", "--study-slaves", "3", "--json", file, "--html", first)
	if err != nil {
		t.Fatal(err)
	}
	if err := run("--from", file, "--html", second); err != nil {
		t.Fatal(err)
	}
	a, errA := os.ReadFile(first)
	b, errB := os.ReadFile(second)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the page differs: %v, %v", errA, errB)
	}
	if err := run("--from", filepath.Join(dir, "none.json")); err == nil || !strings.Contains(err.Error(), "name a file that --json wrote") {
		t.Errorf("no file: %v", err)
	}
}

func TestSimulate(t *testing.T) {
	args := []string{"--simulate", "--slaves", "3", "--duration", "20s", "--rate", "50", "--interval", "2s", "--workload", "shift"}
	c, page, err := balanced(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	checkRuns(t, c, page, "groups missed in complete answers", "groups doubled in complete answers", "incomplete answers")
	again, _, err := balanced(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Runs {
		a, _ := json.Marshal(c.Runs[i].Series)
		b, _ := json.Marshal(again.Runs[i].Series)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the same command gave something else", c.Runs[i].Strategy)
		}
	}
}

func TestRealProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("short: clusters of processes")
	}
	c, page, err := balanced(t, "--adshard", program(t), "--slaves", "3", "--duration", "6s", "--rate", "50", "--interval", "1s",
		"--workload", "production", "--strategies", "weighted-move", "--initial", "original", "--settle", "100ms")
	if err != nil {
		t.Fatal(err)
	}
	checkRuns(t, c, page, "ads missed", "ads too many", "ads with another price", "incomplete answers", "failed or refused")
	if v, ok := c.Runs[0].Find("memory of the balancer"); !ok || v < 1 {
		t.Errorf("memory of the balancer: %v", v)
	}
}

// checkRuns checks that each run has figures and series, and that the figures in zero are 0.
func checkRuns(t *testing.T, c *compare.Comparison, page string, zero ...string) {
	t.Helper()
	if len(c.Runs) == 0 || strings.Count(page, "<svg") < 5 {
		t.Fatalf("%d runs, %d charts", len(c.Runs), strings.Count(page, "<svg"))
	}
	for _, r := range c.Runs {
		for _, name := range zero {
			if v, ok := r.Find(name); !ok || v != 0 {
				t.Errorf("%s, %s: %v, %v", r.Strategy, name, v, ok)
			}
		}
		for _, name := range []string{"max/mean at the end", "moves", "p99 at the master, before moves"} {
			if v, ok := r.Find(name); !ok {
				t.Errorf("%s has no figure %q (%v)", r.Strategy, name, v)
			}
		}
		for _, of := range []string{compare.MaxOverMean, compare.SlaveLoad, compare.MasterP99, compare.MovedItems} {
			if len(r.Lines(of)) == 0 {
				t.Errorf("%s has no series %q", r.Strategy, of)
			}
		}
	}
}

func TestFirstFill(t *testing.T) {
	if testing.Short() {
		t.Skip("short: clusters of processes")
	}
	r, err := do(t, FirstFillCommand(), "--adshard", program(t), "--slaves", "2", "--keywords", "1000", "--data", "extract")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first fill", "keywords per second", "memory of the balancer, peak", "heap of the balancer at the end"} {
		if f, ok := r.Find(name); !ok || f.Value <= 0 {
			t.Errorf("%s is %v", name, f.Value)
		}
	}
}

func TestCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("short: clusters of processes")
	}
	r, err := do(t, CopyCommand(), "--adshard", program(t), "--rounds", "2", "--keywords", "1000", "--data", "extract")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"size of the store", "files copied, verified and on disk", "until it serves: times as fast as the database"} {
		if f, ok := r.Find(name); !ok || f.Value <= 0 {
			t.Errorf("%s is %v", name, f.Value)
		}
	}
}

func TestBalanceRefuses(t *testing.T) {
	for name, args := range map[string][]string{
		"strategy":      {"--strategies", "nonsense"},
		"initial":       {"--initial", "nonsense"},
		"no strategy":   {"--strategies", ""},
		"workload":      {"--study", "--workload", "nonsense"},
		"two workloads": {"--simulate", "--workload", "real,single"},
		"both":          {"--simulate", "--study"},
		"order":         {"--order", "x"},
		"needs owners":  {"--study", "--study-slaves", "2", "--workload", "real", "--order", "hash", "--strategies", "original"},
		"starts so":     {"--simulate", "--duration", "1s", "--order", "hash", "--strategies", "random", "--initial", "original"},
		"slaves":        {"--slaves", "0"},
		"study slaves":  {"--study", "--study-slaves", "0"},
		"rate":          {"--rate", "0"},
		"duration":      {"--duration", "1ms"},
		"database":      {"--study", "--db", "nowhere"},
		"program":       {"--adshard", "/nonexistent", "--slaves", "1"},
		"argument":      {"argument"},
	} {
		if _, _, err := balanced(t, args...); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	c := BalanceCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"--headlines", "--strategies", "random"})
	if err := c.ExecuteContext(t.Context()); err == nil {
		t.Error("--headlines was taken together with an option that it ignores")
	}
}
