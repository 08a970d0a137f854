package ablation

import (
	"context"
	"flag"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"adshard/bench/corpus"
	"adshard/bench/layouts"
	"adshard/bench/paired"
	"adshard/fault"
)

const source = "../.."

// TestIdeasApply: the words to be replaced still stand in the source.
func TestIdeasApply(t *testing.T) {
	seen := map[string]bool{Full: true}
	for _, i := range Ideas() {
		if _, err := i.Overlay(source, t.TempDir()); err != nil {
			t.Error(err)
		}
		if seen[i.Name] || i.What == "" || i.Instead == "" || len(i.Patches) == 0 {
			t.Errorf("%q is there twice, or not told", i.Name)
		}
		seen[i.Name] = true
	}
}

// alike has every idea answer the oracle's queries; it takes minutes.
var alike = flag.Bool("alike", false, "run the product with each idea switched off, instead of compiling it")

// TestIdeasCompile: the product compiles with each idea switched off.
func TestIdeasCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the search anew for each idea: not in -short")
	}
	for _, i := range Ideas() {
		t.Run(i.Name, func(t *testing.T) { goes(t, i, "build", "./search", "./barrels") })
	}
}

// TestIdeasAnswerAlike: with each idea switched off the product still gives the
// right answers to 10,000 keywords, as the conformance suite of layouts has it.
func TestIdeasAnswerAlike(t *testing.T) {
	if !*alike {
		t.Skip("links and runs the product anew for each idea: -args -alike")
	}
	for _, i := range Ideas() {
		t.Run(i.Name, func(t *testing.T) {
			goes(t, i, "test", "-count=1", "-vet=off", "-run", "^TestLayouts$/.*/^corpus$", "./bench/layouts/served")
		})
	}
}

// goes runs the go tool with an idea switched off.
func goes(t *testing.T, i Idea, command string, args ...string) {
	t.Helper()
	overlay, err := i.Overlay(source, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", append([]string{command, "-overlay", overlay}, args...)...)
	c.Dir = source
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestWordsThatAreGone: a patch whose words stand nowhere, or twice, is refused.
func TestWordsThatAreGone(t *testing.T) {
	for _, p := range []Patch{
		{"search/scan.go", "nobody wrote this", ""},
		{"search/scan.go", "return", "continue"},
		{"search/scan.go", "package search", "package search"},
		{"search/nothing.go", "package search", ""},
	} {
		i := Idea{Name: "wrong", Patches: []Patch{p}}
		if _, err := i.Overlay(source, t.TempDir()); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "mend the idea") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestOrder(t *testing.T) {
	const n = 12
	firsts := make(map[int]bool)
	for round := range n {
		o := order(n, round)
		firsts[o[0]] = true
		slices.Sort(o)
		for i := range o {
			if o[i] != i {
				t.Fatalf("round %d: %v", round, o)
			}
		}
	}
	if len(firsts) < n/2 {
		t.Errorf("only %d variants ever begin", len(firsts))
	}
}

// TestTimes: a variant is compared by the floor of its own process.
func TestTimes(t *testing.T) {
	turn := func(slower, toFloor float64) *paired.Result {
		row := func(name string, micros float64) paired.Row {
			return paired.Row{Name: name, Setup: "log", Keywords: 1000, QueriesPerSecond: 1e6 / (micros * slower),
				Ratios: map[string]paired.Spread{floor: {Median: 1 / micros}}}
		}
		return &paired.Result{Rows: []paired.Row{row(floor, 1), row(served, toFloor), row(servedTop, toFloor/2)}}
	}
	r := &Result{Ideas: []Idea{{Name: "a", What: "an idea", Instead: "none"}}, Turns: map[string][]*paired.Result{
		Full: {turn(1, 2), turn(3, 2), turn(1, 2)}, "a": {turn(5, 4), turn(1, 4), turn(1, 5)},
	}}
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| full | nothing |  | 2.00 | 1 | 0.00 | 1.00 | 1 |", "| a | an idea | none | 5.00 | 2.00 (2.00–2.50) |", "The floor in the processes of the full product: 1.00 µs (1.00–3.00). served takes 2.00 times as long (2.00–2.00).",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("without %q:\n%s", want, b.String())
		}
	}
}

// TestPairs: whatever is moved, the same keywords match; and candidates are what
// a count of each anchor says.
func TestPairs(t *testing.T) {
	set, queries := corpusOf(t, 3000)
	matches := 0.0
	for most := range 40 {
		p := CountPairs(set, queries, most)
		if most == 0 {
			matches = p.Words.Matches
		}
		if p.Words.Matches != matches || p.WithPairs.Matches != matches {
			t.Fatalf("most %d: %+v, matches were %v", most, p, matches)
		}
		if p.WithPairs.Candidates > p.Words.Candidates || p.WithPairs.Lookups < p.Words.Lookups {
			t.Fatalf("most %d: %+v", most, p)
		}
	}
	if none := CountPairs(set, queries, set.Len()); none.Moved != 0 || none.Words != none.WithPairs {
		t.Errorf("nothing can move: %+v", none)
	}
	if matches == 0 {
		t.Error("nothing matches")
	}
}

// TestPairsByHand: three words, one of them heavy.
func TestPairsByHand(t *testing.T) {
	b := layouts.NewBuilder()
	for _, text := range []string{"a b", "a b", "a c", "a", "b c", "b c", "b c", "c"} {
		for w := range strings.FieldsSeq(text) {
			b.Word(w)
		}
		b.Keyword(1, 1)
	}
	// a stands in 4 keywords, b in 5, c in 5: a is the anchor of 4, b of 3 (it
	// comes first), c of 1.
	got := CountPairs(b.Set(), layouts.NewQueries([]string{"a c"}), 3)
	want := Pairs{Moved: 3, Words: Effort{Lookups: 2, Candidates: 5, Matches: 3}, WithPairs: Effort{Lookups: 3, Candidates: 3, Matches: 3}}
	if got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
}

var keywords = flag.Int64("keywords", 10_000, "size of the set whose pairs are counted")

// BenchmarkPairs reports what a query costs with and without pairs as anchors for
// words that are the anchor of more than one keyword in a hundred, up to 1,000.
func BenchmarkPairs(b *testing.B) {
	set, queries := corpusOf(b, *keywords)
	var p Pairs
	for b.Loop() {
		p = CountPairs(set, queries, int(min(1000, *keywords/100)))
	}
	b.ReportMetric(float64(p.Moved)/float64(set.Len()), "moved/keyword")
	b.ReportMetric(p.Words.Candidates, "candidates/query")
	b.ReportMetric(p.WithPairs.Candidates, "candidates-pairs/query")
	b.ReportMetric(p.Words.Lookups, "lookups/query")
	b.ReportMetric(p.WithPairs.Lookups, "lookups-pairs/query")
	b.ReportMetric(p.Words.Matches, "matches/query")
}

// corpusOf is keywords of the extract and queries.
func corpusOf(tb testing.TB, keywords int64) (*layouts.Set, []*layouts.Query) {
	tb.Helper()
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		tb.Fatal(err)
	}
	o := corpus.Options{Keywords: keywords, Queries: 300, Seed: 1}
	set, err := layouts.FromCorpus(context.Background(), c, o, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var log strings.Builder
	if _, err := c.WriteQueries(&log, o); err != nil {
		tb.Fatal(err)
	}
	return set, layouts.NewQueries(strings.Split(log.String(), "\n"))
}
