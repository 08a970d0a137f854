package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/bench/page/pagetest"
	"adshard/bench/trace"
	"adshard/fault"
)

// made returns a trace of n items and of one query for each row of costs;
// costs[q][i] is what item i costs query q.
func made(n int, costs [][]uint32) *trace.Trace {
	t := &trace.Trace{Order: balance.ByHash, Starts: []int{0}}
	for i := range n {
		t.Keys = append(t.Keys, balance.Key(uint64(i+1)*(math.MaxUint64/uint64(n+1))))
		t.Weights, t.Keywords = append(t.Weights, 10), append(t.Keywords, 5)
	}
	for _, row := range costs {
		for i, c := range row {
			if c > 0 {
				t.Items, t.Examined, t.Matched = append(t.Items, uint32(i)), append(t.Examined, c), append(t.Matched, 0)
			}
		}
		t.Queries, t.Starts = append(t.Queries, "q"), append(t.Starts, len(t.Items))
	}
	return t
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func TestJudge(t *testing.T) {
	tr := made(4, [][]uint32{{6, 2, 0, 0}, {1, 1, 1, 1}})
	p := Placement{Slaves: 2, Owner: []uint16{0, 1, 0, 1}}
	got := Judge(tr, CostModel{Query: 10, Examined: 1}, []float64{0.5, 0.5}, p)
	// Query 0: 6 and 2, bound 6 (its most expensive item); query 1: 2 and 2, bound 2.
	want := Judgement{
		MaxOverMean: 4.0 / 3, Bound: 3.5 / 3, Expected: 1, Mean: 14, P50: 12, P99: 16, BoundMean: 14,
		OneAtATime: 1e6 / 14, Saturated: 1e6 / 14,
	}
	if !near(got.MaxOverMean, want.MaxOverMean) || !near(got.Bound, want.Bound) || !near(got.Expected, 1) || got.Mean != 14 ||
		got.P50 != 12 || got.P99 != 16 || got.BoundMean != 14 || !near(got.Saturated, 1e6/14) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	p.Owner = []uint16{0, 0, 1, 1}
	if got := Judge(tr, CostModel{Examined: 1}, []float64{1, 0}, p); !near(got.Expected, 8.0/6) || !near(got.MaxOverMean, 2) {
		t.Errorf("a worse placement: %+v", got)
	}
}

// TestBound: no placement has a max/mean below the bound, which is checked by
// trying all of them.
func TestBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slaves := rapid.IntRange(1, 3).Draw(t, "slaves")
		loads := rapid.SliceOfN(rapid.Float64Range(0, 10), 1, 7).Draw(t, "loads")
		total := 0.0
		for _, v := range loads {
			total += v
		}
		best, places := math.Inf(1), int(math.Pow(float64(slaves), float64(len(loads))))
		for code := range places {
			sums := make([]float64, slaves)
			for _, v := range loads {
				sums[code%slaves] += v
				code /= slaves
			}
			best = min(best, slices.Max(sums))
		}
		if bound := itemBound(loads, slaves); total > 0 && (bound*total/float64(slaves) > best*(1+1e-9) || bound < 1-1e-9) {
			t.Errorf("bound %v of %v on %d slaves, the best is %v", bound, loads, slaves, best*float64(slaves)/total)
		}
	})
}

func TestLeastMove(t *testing.T) {
	tr := made(4, [][]uint32{{1, 1, 1, 1}})
	load := []float64{4, 4, 4, 4}
	if got := leastMove(tr, load, Placement{Slaves: 2, Owner: []uint16{0, 1, 0, 1}}); got != 0 {
		t.Errorf("nothing had to move, not %v", got)
	}
	// Slave 0 has 16; the goal is 1.15 × 8; so 6.8 is too much, in items of 4 that
	// weigh 10.
	if got := leastMove(tr, load, Placement{Slaves: 2, Owner: []uint16{0, 0, 0, 0}}); !near(got, 17) {
		t.Errorf("%v had to move, want 17", got)
	}
}

func TestBalancedFrom(t *testing.T) {
	for _, c := range []struct {
		ratios []float64
		at     float64
		ok     bool
	}{
		{[]float64{1, 1, 1}, 0, true},
		{[]float64{2, 2, 1.1, 1.1}, 2, true},
		{[]float64{2, 2, 1.1, 1.3, 1.1, 1.1}, 2, true}, // a single sample is noise
		{[]float64{2, 1.1, 1.3, 1.3, 1.1, 1.1}, 4, true},
		{[]float64{2, 2, 2}, 0, false},
		{[]float64{1, 1, 2}, 0, false},
	} {
		var part []Sample
		for i, r := range c.ratios {
			part = append(part, Sample{At: float64(i), MaxOverMean: r, Bound: 1})
		}
		if at, ok := balancedFrom(part); at != c.at || ok != c.ok {
			t.Errorf("%v: from %v, %v; want %v, %v", c.ratios, at, ok, c.at, c.ok)
		}
	}
}

// sampled returns a comparison with every kind of content.
func sampled() *Comparison {
	c := &Comparison{
		Command: `adbench balance --queries "<x>"`, Machine: "m & n", Mode: "simulated", Workload: "shift", About: "a < b",
		Keywords: 3500, Slaves: 3, Rate: 100, Seconds: 60, Shifts: []float64{30}, Notes: []string{"note"},
	}
	r := rand.New(rand.NewPCG(1, 1))
	for number, name := range []string{"original", "weighted-move"} {
		run := Run{Strategy: name, Events: []string{"1s: <slice> 5 moved"}, Notes: []string{"fine"}}
		seen := &observed{slaves: []string{"slave-0", "slave-1", "slave-2"}, shifts: c.Shifts}
		for i := range 60 {
			s := Sample{At: float64(i + 1), Bound: 1, PerQuery: 1.2, P50: 1, P99: 5 + float64(number), Queries: 100, SlaveP99: []float64{1, 2, 3}, Items: []int{1, 2, 3}}
			for range 3 {
				s.Load = append(s.Load, 100+r.Float64())
			}
			if i > 10 && i < 20 {
				s.InFlight, s.MovedItems = 1, uint64(i)
			} else if i >= 20 {
				s.MovedItems = 19
			}
			seen.add(s)
		}
		seen.balance(&run)
		seen.latencies(&run)
		seen.series(&run)
		run.Add("not finite", "", math.NaN())
		c.Runs = append(c.Runs, run)
	}
	c.Study = []Placed{
		{Workload: "real", Slaves: 1, Placement: RandomGroups, Ratios: []Ratios{{Costs: WorkAlone, P50: 1, P99: 1}}},
		{Workload: "real", Slaves: 3, Placement: RandomGroups, Ratios: []Ratios{{Costs: WorkAlone, P50: 1.1, P99: 1.5}}},
		{Workload: "real", Slaves: 3, Placement: "original", Ratios: []Ratios{{Costs: WorkAlone, P50: 1.4, P99: 2.5}}},
	}
	return c
}

// TestPage: the page is well-formed and self-contained, and has the results.
func TestPage(t *testing.T) {
	var page bytes.Buffer
	if err := sampled().WritePage(&page); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	title := pagetest.Check(t, text)
	if want := "Balancing strategies compared: shift, 3 slaves, 3,500 keywords, simulated"; title != want {
		t.Errorf("title %q, want %q", title, want)
	}
	charts := strings.Count(text, "<svg")
	for _, want := range []string{"time to balance", "weighted-move", "max/mean of load", "p99 at the master, during moves", "&lt;slice&gt;", "random groups",
		"What queries feel", "commit not recorded", "real, 3 slaves", `<td class="best">1.5</td>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if charts < 15 {
		t.Errorf("%d charts", charts)
	}
	if strings.Contains(text, "<title>"+MasterP50) || !strings.Contains(text, "<title>"+MasterP99) {
		t.Error("latencies that do not differ are drawn, or those that do are not")
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "not finite") {
		t.Error("a number that is none is shown")
	}
}

// TestFileIsFinite: the file can be read as JSON, which has no infinity, and has
// the table's figures.
func TestFileIsFinite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c.json")
	c := sampled()
	if err := c.WriteFile(name); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(c)
	if err != nil || !json.Valid(raw) {
		t.Fatal(err)
	}
	again, err := ReadFile(name)
	if err != nil || !reflect.DeepEqual(again.Rows(), c.Rows()) || !reflect.DeepEqual(again.StudyRows(), c.StudyRows()) {
		t.Errorf("the file read again differs: %v", err)
	}
	if _, err := ReadFile(name + "x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("no file: %v", err)
	}
	var table bytes.Buffer
	if err := c.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"time to balance", "after change 1", "p99 at the slowest slave, after moves"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
}

func TestPeriods(t *testing.T) {
	o := &observed{slaves: []string{"a"}}
	want := []Period{Before, During, During, After, During, After}
	for i, s := range []Sample{{}, {InFlight: 1}, {MovedItems: 5}, {MovedItems: 5}, {MovedItems: 6}, {MovedItems: 6}} {
		if got := o.add(s); got != want[i] {
			t.Errorf("sample %d is %v, want %v", i, got, want[i])
		}
	}
}

// TestVerdict checks that the verdict also names the worst value, and compares
// each query with its own bound.
func TestVerdict(t *testing.T) {
	c := &Comparison{Mode: "processes", Shifts: []float64{30}}
	for i, name := range []string{"original", "weighted-move"} {
		r := Run{Strategy: name}
		r.Add("max/mean at the end", "", 9)
		r.Add("max/mean at the end, after change 1", "", 1.4-0.3*float64(i))
		r.Add(perQueryAtEnd, "", 2.2-0.2*float64(i))
		r.Add(p99OfAll, "ms", 12+11*float64(i))
		r.Add("ads missed", "", float64(i))
		c.Runs = append(c.Runs, r)
	}
	got := strings.Join(c.verdict(), "\n")
	for _, want := range []string{"1.1 (weighted-move) to 1.4 (original)", "2 (weighted-move) to 2.2 (original)",
		"12 (original) to 23 (weighted-move)", "complete answers: 1;"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	c.Runs[1].Figures = c.Runs[0].Figures
	if got = strings.Join(c.verdict(), "\n"); !strings.Contains(got, "over the mean: 1.4 (all alike).") {
		t.Errorf("a tie is won: %s", got)
	}
	c = &Comparison{Mode: "study", Study: sampled().Study}
	got = strings.Join(c.verdict(), "\n")
	if !strings.Contains(got, "random groups 1.5 to 1.5; original 2.5 to 2.5") {
		t.Errorf("the study's verdict: %s", got)
	}
}
