package goldentest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestWhole: each answer belongs to the query on the same line, so that line numbers mean the same in both files and
// no answer is missing.
func TestWhole(t *testing.T) {
	for _, c := range []struct {
		queries, answers string
		want             int
	}{
		{"queries.txt", "want-desktop.jsonl", 1201},
		{"queries.txt", "want-mobile.jsonl", 1201},
		{"edges/queries.tsv", "edges/want.jsonl", 265},
	} {
		queries, answers := lines(t, c.queries), lines(t, c.answers)
		if len(queries) != c.want || len(answers) != c.want {
			t.Fatalf("%s has %d lines and %s %d, want %d each", c.queries, len(queries), c.answers, len(answers), c.want)
		}
		for i, line := range answers {
			var a struct {
				Query, Device, Variants, Profile string
				Slots                            int
			}
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatalf("%s:%d: %v", c.answers, i+1, err)
			}
			asked := a.Query
			if a.Profile != "" {
				asked = fmt.Sprintf("%s\t%s\t%d\t%s\t%s", a.Query, a.Device, a.Slots, a.Variants, a.Profile)
			}
			if asked != queries[i] {
				t.Errorf("%s:%d answers %q, and the query is %q", c.answers, i+1, asked, queries[i])
			}
		}
	}
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	return strings.Split(strings.TrimSuffix(string(Read(t, name)), "\n"), "\n")
}
