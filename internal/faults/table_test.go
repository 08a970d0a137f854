package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// String formats an outcome for printing.
func (o outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %s: %s, whole %.1f s after the end, %d changes, %d failed, %d ad groups moved\n",
		o.Seed, o.Strategy, o.judge(), o.Whole, o.Changes, o.FailedChanges, o.Moved)
	for _, s := range o.Steps {
		if s.Missing != "" {
			fmt.Fprintf(&b, "  %-22s %-28s left out, it needs %s\n", s.Kind, s.Text, s.Missing)
			continue
		}
		fmt.Fprintf(&b, "  %-22s %-28s at %.1f s, undone %.1f, whole %.1f: %s\n", s.Kind, s.Text, s.At, s.Undone, s.Whole, s.tally)
		if len(s.Repeated) > 0 {
			fmt.Fprintf(&b, "  %-22s refused to %s it; repeated when everything was whole\n", "", strings.Join(s.Repeated, " and "))
		}
	}
	if o.Late != "" {
		fmt.Fprintf(&b, "  not whole in time: %s\n", o.Late)
	}
	fmt.Fprintf(&b, "  calm: %s\n  memory %v MiB, open files %v, disk %v MiB\n", o.Calm, o.Memory, o.Files, o.Disk)
	for _, what := range slices.Sorted(maps.Keys(o.By)) {
		fmt.Fprintf(&b, "  %s, %d times\n", what, o.By[what])
	}
	return b.String()
}

func (t tally) String() string {
	text := fmt.Sprintf("%d complete, %d incomplete, %d refused, %d failed, %d wrong", t.Complete, t.Incomplete, t.Refused, t.Failed, t.Wrong)
	if len(t.Why) > 0 {
		text += fmt.Sprint(" ", t.Why)
	}
	return text
}

// row is a row of the table of faults and outcomes.
type row struct {
	kind           string
	times, leftOut int
	tally
	whole []float64 // seconds from the end of the fault
}

// table returns the tables of the schedules played at each commit, and of the results of each kind of fault and of
// each strategy.
func table(all []outcome) string {
	return commits(all) + "\n" + faults(all, kindNames(), func(kind string) string { return kind }) + "\n" + inUse(all)
}

// kindNames returns the names of all kinds of faults, in their order.
func kindNames() (names []string) {
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// faults returns the table of faults and outcomes. rowOf returns the row in which a kind of fault counts. The rows
// are in the given order, followed by those of earlier commits.
func faults(all []outcome, order []string, rowOf func(kind string) string) string {
	rows, calm := make(map[string]*row), row{kind: "none"}
	for _, o := range all {
		calm.add(o.Calm)
		for _, s := range o.Steps {
			name := rowOf(s.Kind)
			r := rows[name]
			if r == nil {
				r = &row{kind: name}
				rows[name] = r
			}
			r.count(s)
		}
	}
	b := strings.Builder{}
	b.WriteString("| fault | times | complete | incomplete | refused, no answer | whole after: p50 | max |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, name := range order {
		if r := rows[name]; r != nil {
			b.WriteString(r.String())
			delete(rows, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) { // rows of earlier commits
		b.WriteString(rows[name].String())
	}
	b.WriteString(calm.String())
	return b.String()
}

// count counts a fault.
func (r *row) count(s *stepOutcome) {
	if s.Missing != "" {
		r.leftOut++
		return
	}
	r.times++
	r.add(s.tally)
	if s.Whole > 0 {
		r.whole = append(r.whole, s.Whole-s.Undone)
	}
}

func (r row) String() string {
	times, p50, most := "", "", ""
	if r.times+r.leftOut > 0 {
		times = fmt.Sprint(r.times)
	}
	if r.leftOut > 0 {
		times += fmt.Sprintf(" (%d left out)", r.leftOut)
	}
	if n := len(r.whole); n > 0 {
		slices.Sort(r.whole)
		p50, most = seconds(r.whole[n/2]), seconds(r.whole[n-1])
	}
	complete := fmt.Sprint(r.Complete)
	if r.Wrong > 0 {
		complete += fmt.Sprintf(", **%d wrong**", r.Wrong)
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %s | %s |\n", r.kind, times, complete, r.Incomplete, r.Refused+r.Failed, p50, most)
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond).String()
}

// The page that has the table, between two lines, and the file of all outcomes.
const (
	page     = "../../docs/reliability.md"
	outcomes = "../../docs/experiments/faults.jsonl"
	from     = "<!-- table of deploy/faults.sh -->\n"
	until    = "<!-- end of the table -->\n"
)

// TestTable checks that the page has the table of the file. With FAULTS_TABLE=write it writes the table there. With
// paths of other files in FAULTS_TABLE it prints the table of all of them.
func TestTable(t *testing.T) {
	if files := os.Getenv("FAULTS_TABLE"); files != "" && files != "write" {
		var all []outcome
		for _, file := range strings.Fields(files) {
			all = append(all, readOutcomes(t, file)...)
		}
		fmt.Print(table(all))
		return
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), from)
	old, after, ok2 := strings.Cut(rest, until)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	want := "\n" + faults(readOutcomes(t, outcomes), groupNames(), groupOf) + "\n"
	switch {
	case os.Getenv("FAULTS_TABLE") == "write":
		if err := os.WriteFile(page, []byte(before+from+want+until+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case old != want:
		t.Errorf("the table of %s is not that of %s: run FAULTS_TABLE=write go test ./internal/faults -run TestTable", page, outcomes)
	}
}

func readOutcomes(t *testing.T, file string) (all []outcome) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := json.NewDecoder(f)
	for lines.More() {
		var o outcome
		if err := lines.Decode(&o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}
