package workload

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/corpus"
)

func options(t testing.TB) Options {
	t.Helper()
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		t.Fatal(err)
	}
	return Options{Corpus: c, Keywords: 2000, Seed: 1}
}

func named(t testing.TB, name string) *Workload {
	t.Helper()
	w, err := Named(name, options(t))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// event is a time and a query's text.
type event struct {
	at   time.Duration
	text string
}

func events(w *Workload, rate float64, run time.Duration) (out []event) {
	for at, q := range w.Events(rate, run) {
		out = append(out, event{at, w.Queries[q]})
	}
	return out
}

// TestNamed: each workload is the same every time, has the requested rate, and
// has weights that sum to 1.
func TestNamed(t *testing.T) {
	const rate, run = 500.0, 20 * time.Second
	for _, m := range makers {
		t.Run(m.name, func(t *testing.T) {
			w := named(t, m.name)
			list := events(w, rate, run)
			if !slices.Equal(list, events(named(t, m.name), rate, run)) {
				t.Error("a second run differs")
			}
			if n := float64(len(list)); math.Abs(n-rate*run.Seconds()) > 500 {
				t.Errorf("%v queries in %v at %v a second", n, run, rate)
			}
			if !slices.IsSortedFunc(list, func(a, b event) int { return int(a.at - b.at) }) {
				t.Error("times go back")
			}
			for i := range w.Phases() {
				sum := 0.0
				for _, v := range w.Weights(i) {
					sum += v
				}
				if math.Abs(sum-1) > 1e-9 {
					t.Errorf("weights of mix %d sum to %v", i, sum)
				}
			}
			if !strings.Contains(Help(), m.name) {
				t.Error("help does not name it")
			}
		})
	}
}

// TestShift: after the shift, the derived queries are different ones.
func TestShift(t *testing.T) {
	w := named(t, "shift:4s")
	before, after := map[string]int{}, map[string]int{}
	for _, e := range events(w, 2000, 12*time.Second) {
		if e.at < 4*time.Second {
			before[e.text]++
		} else {
			after[e.text]++
		}
	}
	common, all := 0, 0
	for text, n := range after {
		all += n
		if before[text] > 0 {
			common += n
		}
	}
	if common*2 > all {
		t.Errorf("%d of %d queries after the shift were asked before", common, all)
	}
	if w.Begins(1, time.Hour) != 4*time.Second || named(t, "shift").Begins(1, time.Hour) != 30*time.Minute {
		t.Error("the shift comes at another time")
	}
}

func TestWaveSwings(t *testing.T) {
	const run = 20 * time.Second
	var quarters [4]int
	for _, e := range events(named(t, "wave"), 500, run) {
		quarters[int(4*e.at/run)]++
	}
	if quarters[1]+quarters[2] < 2*(quarters[0]+quarters[3]) {
		t.Errorf("queries by quarter of the day: %v", quarters)
	}
}

func TestThesis(t *testing.T) {
	one := named(t, "single")
	if len(one.Queries) != 1 || one.Requests != 10_000 || len(strings.Fields(one.Queries[0])) != 2 {
		t.Errorf("single: %q, %d requests", one.Queries, one.Requests)
	}
	w := named(t, "production")
	var list []int
	for q := range w.Sequence() {
		if list = append(list, q); len(list) == 300 {
			break
		}
	}
	if !slices.Equal(list[:100], list[100:200]) || !slices.Equal(list[:100], list[200:]) || w.Requests != 10_000 {
		t.Error("production does not repeat the same 100 queries")
	}
}

// TestZipf: the exponent decides the share of the first query.
func TestZipf(t *testing.T) {
	last := 0.0
	for _, name := range []string{"zipf:0", "zipf:0.8", "zipf", "zipf:1.2"} {
		first := slices.Max(named(t, name).Weights(0))
		if first <= last {
			t.Errorf("%s: the commonest query has %v, with less skew %v", name, first, last)
		}
		last = first
	}
}

func TestHostileIsLong(t *testing.T) {
	for _, q := range named(t, "hostile").Queries {
		if n := len(strings.Fields(q)); n < 25 || len(q) > 1024 {
			t.Errorf("%d words, %d bytes: %s", n, len(q), q)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, name := range []string{"", "nonsense", "real:5", "zipf:x", "zipf:-1", "shift:x", "shift:-5s"} {
		if _, err := Named(name, options(t)); err == nil {
			t.Errorf("%q was taken", name)
		}
		if fault.KindOf(Check(name)) != fault.Invalid {
			t.Errorf("%q is not refused before anything is read", name)
		}
	}
	for _, name := range []string{"real", "zipf", "zipf:0.8", "shift:5s"} {
		if err := Check(name); err != nil {
			t.Error(err)
		}
	}
}

// TestRecordedLogKeepsItsTimes: with a rate, the times of a log are stretched,
// its bursts stay, and it begins again after its end.
func TestRecordedLogKeepsItsTimes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log.tsv")
	log := "a\t2026-01-31T12:00:00Z\nb\t2026-01-31T12:00:00.1Z\nc\t2026-01-31T12:00:03.999Z\n"
	if err := os.WriteFile(name, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := FromFile(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	want := []event{{0, "a"}, {50 * ms, "b"}, {1999500 * time.Microsecond, "c"}, {2000 * ms, "a"}, {2050 * ms, "b"}}
	if got := events(w, 1.5, 3*time.Second); !slices.Equal(got, want) { // 3 queries in 4 s of the log's own time
		t.Errorf("twice as fast: %v, want %v", got, want)
	}
	if w.Lasts(0) != 4*time.Second || w.Lasts(1.5) != 2*time.Second {
		t.Errorf("it lasts %v, twice as fast %v", w.Lasts(0), w.Lasts(1.5))
	}
	if own, twice := w.MeanRate(0, 4*time.Second), w.MeanRate(1.5, 4*time.Second); own != 0.75 || twice != 1.5 {
		t.Errorf("%v a second, twice as fast %v", own, twice)
	}
}

func TestFromFile(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "queries")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	read := func(text string) *Workload {
		w, err := FromFile(write(text), 1)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	turn := read("a\n\nb\na\nc\n")
	if got := strings.Join(slices.Collect(turn.InTurn()), ""); got != "abac" || len(turn.Queries) != 3 {
		t.Errorf("in turn: %q of %q", got, turn.Queries)
	}
	if got := events(turn, 100, 100*time.Millisecond); len(got) < 3 || got[0].text != "a" || got[1].text != "b" || got[2].text != "a" {
		t.Errorf("in turn: %v", got)
	}
	counted := read("often\t900\nseldom\t50\noften\t50\n")
	if w := counted.Weights(0); len(w) != 2 || w[0] != 0.95 {
		t.Errorf("counts: %v", w)
	}
	timed := read("x\t2026-01-31T12:00:00Z\ny\t2026-01-31T12:00:01.5Z\nx\t2026-01-31T12:00:09Z\n")
	want := []event{{0, "x"}, {1500 * time.Millisecond, "y"}, {9 * time.Second, "x"}}
	if got := events(timed, 0, time.Minute); !slices.Equal(got, want) || timed.Recorded() < 9*time.Second {
		t.Errorf("times: %v", got)
	}
	if got := events(timed, 0, 2*time.Second); len(got) != 2 {
		t.Errorf("times of a shorter run: %v", got)
	}
	said := read("x\t2026-01-31T12:00:00Z\nx\t2026-01-31T12:00:01Z\tlocation=2203&time=2026-01-31T12%3A00%3A01Z\t0123456789abcdef\nx\t2026-01-31T12:00:02Z\n")
	if len(said.Queries) != 2 || said.Context(0) != nil || said.Context(1).Get("location") != "2203" {
		t.Errorf("contexts: %q, %v", said.Queries, said.Contexts)
	}
	for _, text := range []string{"1,5\nshoes\nboots\n", "red shoes, size 5\nboots, 43 wide\n"} {
		read(text) // commas within queries
	}
	for name, text := range map[string]string{
		"commas before times": "a,2026-01-31T12:00:00Z\nb,2026-01-31T12:00:01Z\n", "semicolons": "a;2026-01-31 12:00:00\n",
		"commas before counts": "a,5\nb,7\n", "a header and commas": "query,count\na,5\nb,7\n", "quoted": "\"a\",\"5\"\n",
		"nothing": "\n\n", "mixed": "a\nb\t5\n", "no number": "a\tmany\n", "negative": "a\t-5\n", "all zero": "a\t0\n",
		"a count and more": "a\t5\tlocation=2203\n", "no parameters": "a\t2026-01-31T12:00:00Z\tlocation=%\n",
		"times back": "a\t2026-01-31T12:00:00Z\nb\t2026-01-31T11:00:00Z\n",
	} {
		if _, err := FromFile(write(text), 1); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := FromFile(filepath.Join(t.TempDir(), "none"), 1); err == nil {
		t.Error("a file that is not there was taken")
	}
}
