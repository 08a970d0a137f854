package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// commits is the table of what was played at each commit, in the order of the file. A seed
// that was played at several of them counts each time.
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
			count(func(o outcome) bool { return o.Etcd }), count(func(o outcome) bool { return len(o.Wrong) > 0 }),
			count(func(o outcome) bool { return o.Late != "" }))
	}
	return b.String()
}

// ranges are the seeds of outcomes: 1–3, 7.
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

// TestTableOfCommits: outcomes of several commits are told apart, and kinds of faults that are
// no more stay in the table.
func TestTableOfCommits(t *testing.T) {
	got := table([]outcome{
		{Seed: 2, Commit: "b", Database: "postgres", TLS: true, Wrong: []string{"x"}},
		{Seed: 3, Commit: "a", Etcd: true, Late: "x", Steps: []*stepOutcome{{Kind: "of before", At: 1, Undone: 2, Whole: 4, tally: tally{Complete: 5}}}},
		{Seed: 1, Commit: "b"}, {Seed: 7, Commit: "b"}, {Seed: 2, Commit: "b"},
	})
	for _, want := range []string{
		"| b | 4 | 1–2, 7 | 1 | 1 | 0 | 1 | 0 |\n| a | 1 | 3 | 0 | 0 | 1 | 0 | 1 |\n",
		"| of before | 1 | 1 | 5 | 0 | 0 | 0 | 0 | 2s | 2s |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}
