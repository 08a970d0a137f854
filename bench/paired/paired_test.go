package paired

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"adshard/bench/layouts"
	"adshard/fault"
)

var providesAll = layouts.Provides{Matches: true, Sum: true, Best: true}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func smallPlan(t *testing.T, all ...layouts.Layout) *Plan {
	return &Plan{
		Set: smallSet(60), Setups: []layouts.Setup{smallSetup("one", 20), smallSetup("two", 7)}, Layouts: all,
		Rounds: 5, Time: 20 * time.Millisecond, Threads: 1, Dir: t.TempDir(),
	}
}

func TestRun(t *testing.T) {
	p := smallPlan(t, &fake{name: "a", provides: providesAll, took: time.Millisecond}, &fake{name: Floor, provides: providesAll, took: 500 * time.Microsecond})
	p.Peers = []layouts.Layout{&fake{name: "peer", absent: true}, &fake{name: "there", provides: layouts.Provides{Matches: true}, took: 10 * time.Millisecond}}
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 6 || len(r.Absent) != 1 || r.Absent[0].Name != "peer" || !strings.Contains(r.Absent[0].Why, "install it") {
		t.Fatalf("%d rows, absent %+v", len(r.Rows), r.Absent)
	}
	for i, row := range r.Rows {
		if want := []string{"one", "two"}[i/3]; row.Setup != want || row.Matches != r.Rows[i/3*3].Matches || row.Matches == 0 || row.Keywords != 60 {
			t.Errorf("row %+v of setup %s", row, want)
		}
	}
	a := r.Rows[0]
	if a.P50 < 990 || a.P50 > 1010 || a.QueriesPerSecond < 990 || a.QueriesPerSecond > 1010 {
		t.Errorf("told times of 1 ms give %+v", a)
	}
	if f, there := a.Ratios[Floor], a.Ratios["there"]; math.Abs(f.Median-0.5) > 1e-9 || math.Abs(there.Median-10) > 1e-9 || len(a.Ratios) != 2 {
		t.Errorf("ratios %v", a.Ratios)
	}
	if a.BytesPerKeyword.Memory < 1<<30 {
		t.Errorf("what a store reports of its memory does not count: %v", a.BytesPerKeyword)
	}
}

// TestShape checks the JSON of the rows, which other programs read.
func TestShape(t *testing.T) {
	r, err := Run(context.Background(), smallPlan(t, &fake{name: "a", provides: providesAll}))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(r.Rows[0])
	if err != nil {
		t.Fatal(err)
	}
	var row map[string]any
	if err := json.Unmarshal(raw, &row); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"name", "setup", "queries_per_second", "p50_us", "p99_us", "bytes_per_keyword", "build_seconds", "matches", "least", "most", "ratios"} {
		if _, ok := row[name]; !ok {
			t.Errorf("a row has no %s: %s", name, raw)
		}
	}
	for _, name := range []string{"disk", "matching", "memory"} {
		if _, ok := row["bytes_per_keyword"].(map[string]any)[name].(float64); !ok {
			t.Errorf("bytes_per_keyword has no %s: %s", name, raw)
		}
	}
}

func TestLies(t *testing.T) {
	for name, c := range map[string]struct {
		lies func(asked int, f *layouts.Found)
		want []string
	}{
		"matches":      {func(_ int, f *layouts.Found) { f.Matches += 1000 }, []string{"liar", "setup one", `"one query 0"`, "100"}},
		"sum":          {func(_ int, f *layouts.Found) { f.Sum++ }, []string{"liar", "setup one", "sum up to"}},
		"best":         {func(_ int, f *layouts.Found) { f.Best = append(f.Best, 77) }, []string{"liar", "setup one", "77", "honest says"}},
		"once in many": {func(asked int, f *layouts.Found) { f.Matches += uint64(asked / 25) }, []string{"liar", "setup two"}},
		"later": {func(asked int, f *layouts.Found) {
			if asked > 100 {
				f.Matches++
			}
		}, []string{"liar", "found them before"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Run(context.Background(), smallPlan(t, &fake{name: "honest", provides: providesAll}, &fake{name: "liar", provides: providesAll, lies: c.lies}))
			if err == nil {
				t.Fatalf("a lie was taken: %+v", r.Rows)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %s in %q", want, err)
				}
			}
		})
	}
	// What a layout does not report cannot be wrong.
	silent := &fake{name: "silent", lies: func(_ int, f *layouts.Found) { *f = layouts.Found{} }}
	if _, err := Run(context.Background(), smallPlan(t, silent, &fake{name: "honest", provides: providesAll})); err != nil {
		t.Error(err)
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		n    int
		want []string
	}{{1, []string{"0", "0"}}, {2, []string{"01", "10", "10", "01"}}, {3, []string{"012", "210", "120", "021", "201", "102"}}} {
		for round, want := range c.want {
			got := ""
			for _, i := range order(c.n, round) {
				got += string(rune('0' + i))
			}
			if got != want {
				t.Errorf("round %d of %d layouts: %s, want %s", round, c.n, got, want)
			}
		}
	}
}

func TestRoundsAlternate(t *testing.T) {
	var turns []string
	p := smallPlan(t, &fake{name: "a", provides: providesAll, turns: &turns}, &fake{name: "b", provides: providesAll, turns: &turns})
	p.Setups = p.Setups[:1]
	if _, err := Run(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(turns, ""); got != "ab"+"abbabaabab" {
		t.Errorf("turns were %s", got)
	}
}

// TestChanges runs with a fake clock, so that the number of searches and changes in a round
// does not depend on the machine.
func TestChanges(t *testing.T) {
	for name, changes := range map[string]Changes{"share": {Share: 0.5}, "rate": {Rate: 500}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { checkChanges(t, changes) })
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := smallPlan(t, &fake{name: "forgetful", provides: providesAll, changes: true, forgets: true, sleeps: time.Millisecond})
		p.Changes, p.Time = Changes{Share: 0.5}, 10*time.Second
		if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "after changes") {
			t.Errorf("changes that were not made: %v", err)
		}
	})
}

func checkChanges(t *testing.T, changes Changes) {
	t.Helper()
	p := smallPlan(t, &fake{name: "a", provides: providesAll, changes: true, sleeps: time.Millisecond}, &fake{name: "still", provides: providesAll})
	p.Changes, p.Time = changes, 10*time.Second
	r, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 4 || len(r.Absent) != 1 || r.Absent[0].Name != "still" {
		t.Fatalf("rows %+v, absent %+v", r.Rows, r.Absent)
	}
	rest, meanwhile := r.Rows[0], r.Rows[1]
	if rest.Changes != nil || meanwhile.Changes == nil || meanwhile.Changes.P99ToRest.Median != 1 {
		t.Fatalf("at rest %+v, meanwhile %+v", rest, meanwhile)
	}
	if s := meanwhile.Changes.Share.Median; changes.Share > 0 && (s < 0.45 || s > 0.55) {
		t.Errorf("%g of the operations are changes", s)
	}
	if s := meanwhile.Changes.PerSecond.Median; changes.Rate > 0 && (s < 490 || s > 510) {
		t.Errorf("%g changes a second", s)
	}
	if !strings.HasPrefix(meanwhile.Setup, "one, 5") || !strings.Contains(meanwhile.Setup, "changes") {
		t.Errorf("setup %q", meanwhile.Setup)
	}
}

func TestCacheShare(t *testing.T) {
	var caches []uint64
	p := smallPlan(t, &fake{name: "a", provides: providesAll, disk: 1000, caches: &caches}, &fake{name: "in memory", provides: providesAll, caches: &caches})
	p.CacheShare = 0.1
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(caches, []uint64{0, 100, 0}) || r.Rows[0].Setup != "one, cache 10 %" {
		t.Errorf("built with caches of %v bytes; setup %q", caches, r.Rows[0].Setup)
	}
}

// TestSlow checks that a layout that cannot finish a pass is stopped.
func TestSlow(t *testing.T) {
	p := smallPlan(t, &fake{name: "a", provides: providesAll})
	p.Set = smallSet(3000)
	p.Setups, p.Rounds, p.Time = []layouts.Setup{smallSetup("many", 2000)}, 2, 2*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if row := r.Rows[0]; row.Asked >= 2000 || row.Asked < 1 {
		t.Errorf("%g of 2000 queries a round", row.Asked)
	}
}

func TestThreads(t *testing.T) {
	for _, length := range []time.Duration{20 * time.Millisecond, 1} { // within 1 ns, no thread begins in time
		p := smallPlan(t, &fake{name: "a", provides: providesAll, took: time.Millisecond})
		p.Threads, p.Time = 3, length
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if row := r.Rows[0]; row.Setup != "one, 3 threads" || row.QueriesPerSecond < 2970 || row.QueriesPerSecond > 3030 {
			t.Errorf("three threads of 1000 queries a second each, for %v: %+v", length, row)
		}
	}
}

func TestBadPlans(t *testing.T) {
	a, b := &fake{name: "a"}, &fake{name: "a"}
	for name, spoil := range map[string]func(*Plan){
		"no set": func(p *Plan) { p.Set = nil }, "no layouts": func(p *Plan) { p.Layouts = nil }, "twice": func(p *Plan) { p.Peers = []layouts.Layout{b} },
		"no setups": func(p *Plan) { p.Setups = nil }, "no queries": func(p *Plan) { p.Setups = []layouts.Setup{{Name: "x"}} },
		"no rounds": func(p *Plan) { p.Rounds = 0 }, "no time": func(p *Plan) { p.Time = 0 }, "no thread": func(p *Plan) { p.Threads = 0 },
		"cache": func(p *Plan) { p.CacheShare = 1 }, "share": func(p *Plan) { p.Changes.Share = 1 }, "two changes": func(p *Plan) { p.Changes = Changes{0.1, 10} },
	} {
		p := smallPlan(t, a)
		spoil(p)
		if _, err := Run(context.Background(), p); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(context.Background(), smallPlan(t, &fake{name: "a", absent: true})); !fault.Is(err, fault.Unavailable) {
		t.Errorf("nothing to measure: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := smallPlan(t, &fake{name: "a", provides: providesAll, changes: true})
	p.Time, p.Changes = time.Hour, Changes{Rate: 100}
	p.Progress = func(what string, _ float64) {
		if strings.Contains(what, "round") {
			cancel()
		}
	}
	if _, err := Run(ctx, p); !fault.Is(err, fault.Cancelled) {
		t.Errorf("a cancelled run gives %v", err)
	}
}

func TestJoin(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, name := range []string{"a", "b"} {
		r, err := Run(context.Background(), smallPlan(t, &fake{name: name, provides: providesAll}))
		if err != nil {
			t.Fatal(err)
		}
		r.Runs = []Made{{Command: "adbench search"}}
		names = append(names, filepath.Join(dir, name+".json"))
		if err := r.WriteFile(names[len(names)-1]); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Join(names...)
	if err != nil || len(all.Rows) != 4 || len(all.Runs) != 2 || all.Rows[3].Name != "b" {
		t.Errorf("joined: %+v, %v", all, err)
	}
	if _, err := Join(filepath.Join(dir, "none")); !fault.Is(err, fault.NotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Join(); err != nil {
		t.Error(err)
	}
}
