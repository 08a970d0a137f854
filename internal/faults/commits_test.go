package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	strategies "adshard/balance/strategy"
)

// commits returns the table of the schedules played at each commit, in the order of the file. A seed that was played
// at several commits counts for each.
func commits(all []outcome) string {
	var order []string
	of := make(map[string][]outcome)
	for _, o := range all {
		if of[o.Commit] == nil {
			order = append(order, o.Commit)
		}
		of[o.Commit] = append(of[o.Commit], o)
	}
	var b strings.Builder
	b.WriteString("| commit | schedules | seeds | PostgreSQL | TLS | etcd | failed | whole later than 30 s |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, commit := range order {
		list := of[commit]
		count := func(is func(outcome) bool) (n int) {
			for _, o := range list {
				if is(o) {
					n++
				}
			}
			return n
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %d | %d | %d | %d |\n", commit, len(list), ranges(list),
			count(func(o outcome) bool { return o.Database == "postgres" }), count(func(o outcome) bool { return o.TLS }),
			count(func(o outcome) bool { return o.Etcd }), count(func(o outcome) bool { return o.judge() == "failed" }),
			count(func(o outcome) bool { return o.late() }))
	}
	return b.String()
}

// ranges returns the seeds of outcomes as text, such as 1–3, 7.
func ranges(list []outcome) string {
	var seeds []uint64
	for _, o := range list {
		seeds = append(seeds, o.Seed)
	}
	slices.Sort(seeds)
	seeds = slices.Compact(seeds)
	var parts []string
	for len(seeds) > 0 {
		n := 1
		for n < len(seeds) && seeds[n] == seeds[0]+uint64(n) {
			n++
		}
		part := fmt.Sprint(seeds[0])
		if n > 1 {
			part += fmt.Sprint("–", seeds[n-1])
		}
		parts, seeds = append(parts, part), seeds[n:]
	}
	return strings.Join(parts, ", ")
}

// inUse returns the table of strategies: those with which schedules began, and those to which they switched.
func inUse(all []outcome) string {
	var b strings.Builder
	b.WriteString("| strategy | schedules | switched to | moved ad groups | failed | whole later than 30 s |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- |\n")
	for _, name := range strategies.Names() {
		var began, switched, failed, late int
		var moved uint64
		for _, o := range all {
			for _, s := range o.Steps {
				if s.Kind == "strategy switched" && s.Text == name && s.Missing == "" {
					switched++
				}
			}
			if o.Strategy != name {
				continue
			}
			began, moved = began+1, moved+o.Moved
			if o.judge() == "failed" {
				failed++
			}
			if o.late() {
				late++
			}
		}
		if began+switched > 0 {
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", name, began, switched, moved, failed, late)
		}
	}
	return b.String()
}

// TestTableOfCommits: outcomes of different commits are counted separately, and kinds of faults that no longer exist
// stay in the table.
func TestTableOfCommits(t *testing.T) {
	got := table([]outcome{
		{Seed: 2, Commit: "b", Database: "postgres", TLS: true, Wrong: []string{"x"}, Strategy: "esdb", Moved: 7},
		{Seed: 3, Commit: "a", Etcd: true, Late: "x", Steps: []*stepOutcome{
			{Kind: "an earlier one", At: 1, Undone: 2, Whole: 4, Repeated: []string{"do", "undo"}, tally: tally{Complete: 5, Refused: 2, Failed: 1, Wrong: 3}},
			{Kind: "disk full", Missing: "disks"}}},
		{Seed: 1, Commit: "b", Steps: []*stepOutcome{{Kind: "strategy switched", Text: "esdb"}}},
		{Seed: 7, Commit: "b", Whole: 30.5}, {Seed: 2, Commit: "b", Strategy: "esdb", Moved: 3, Late: "x"},
	})
	for _, want := range []string{
		"| b | 4 | 1–2, 7 | 1 | 1 | 0 | 1 | 2 |\n| a | 1 | 3 | 0 | 0 | 1 | 0 | 1 |\n",
		"| an earlier one | 1 | 5, **3 wrong** | 0 | 3 | 2s | 2s |\n",
		"| disk full | 0 (1 left out) | 0 | 0 | 0 |  |  |\n",
		"| none |  | 0 | 0 |",
		"| esdb | 2 | 1 | 10 | 1 | 1 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}
