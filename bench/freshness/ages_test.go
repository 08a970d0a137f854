package freshness

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// event is a commit of a group's version, or an answer that shows one.
type event struct {
	group, version int
	at             time.Duration
	commit         bool
}

// agesOf is the oracle: the age of a change is the time until the end of the first answer
// of its group that shows it or a later change.
func agesOf(events []event) (out []time.Duration) {
	for _, c := range events {
		if !c.commit {
			continue
		}
		first := time.Duration(-1)
		for _, a := range events {
			if !a.commit && a.group == c.group && a.version >= c.version && (first < 0 || a.at < first) {
				first = a.at
			}
		}
		if first >= 0 {
			out = append(out, max(0, first-c.at))
		}
	}
	slices.Sort(out)
	return out
}

// TestAges: for any order of commits and answers, the ages are those of the oracle, even
// if an answer ends before the commit has returned.
func TestAges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const groups = 3
		var events []event
		for g := range groups {
			at := time.Duration(0)
			for v := range rapid.IntRange(0, 6).Draw(t, "versions") {
				at += time.Duration(rapid.IntRange(0, 20).Draw(t, "later"))
				events = append(events, event{g, v + 1, at, true})
			}
			for range rapid.IntRange(0, 6).Draw(t, "answers") {
				events = append(events, event{g, rapid.IntRange(0, 6).Draw(t, "shows"), time.Duration(rapid.IntRange(0, 100).Draw(t, "at")), false})
			}
		}
		slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		a, got, left := newAges(groups), []time.Duration(nil), make(map[int]bool)
		for _, e := range events {
			if !e.commit {
				got = append(got, a.shown(e.group, e.version, e.at)...)
			} else if age, shown := a.committed(e.group, e.version, e.at); shown {
				got = append(got, age)
			}
		}
		slices.Sort(got)
		if want := agesOf(events); !slices.Equal(got, want) {
			t.Fatalf("%v give the ages %v, want %v", events, got, want)
		}
		for g := range groups {
			newest, seen := 0, 0
			for _, e := range events {
				if e.group == g && e.commit {
					newest = max(newest, e.version)
				} else if e.group == g {
					seen = max(seen, e.version)
				}
			}
			left[g] = newest > seen
		}
		for g := range groups {
			if slices.Contains(a.pending(), g) != left[g] {
				t.Fatalf("%v leave %v pending", events, a.pending())
			}
		}
	})
}

// TestMixture: answers are mixed from the first answer with a new version to the last
// with an old one.
func TestMixture(t *testing.T) {
	for name, tt := range map[string]struct {
		answers     []bool // of groups 0, 1, 0, 1, …, at 1, 2, 3, …
		lasted, all time.Duration
		left        int
	}{
		"at once":      {answers: []bool{false, false, true, true}, all: 4},
		"mixed":        {answers: []bool{true, false, true, false, true, true}, lasted: 3, all: 6},
		"never begun":  {answers: []bool{false, false}, left: 2},
		"not all new":  {answers: []bool{true, false, true}, lasted: 1, all: 1, left: 1},
		"old and then": {answers: []bool{false, true, true}, all: 3},
	} {
		m := newMixture(2)
		for i, isNew := range tt.answers {
			m.answered(i%2, isNew, time.Duration(i+1))
		}
		if m.lasted() != tt.lasted || m.allNew != tt.all || m.remaining != tt.left {
			t.Errorf("%s: %v, all new at %v, %d left", name, m.lasted(), m.allNew, m.remaining)
		}
	}
}
