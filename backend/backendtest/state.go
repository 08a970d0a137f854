package backendtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"adshard/backend"
)

// State is the whole content of a database, each kind of entity by id.
type State struct {
	Advertisers map[uint64]backend.Advertiser
	Campaigns   map[uint64]backend.Campaign
	Items       map[uint64]backend.Item
}

// NewState returns an empty State.
func NewState() State {
	return State{
		Advertisers: make(map[uint64]backend.Advertiser),
		Campaigns:   make(map[uint64]backend.Campaign),
		Items:       make(map[uint64]backend.Item),
	}
}

// Read reads everything in a snapshot.
func Read(t testing.TB, n backend.Snapshot) State {
	t.Helper()
	s := NewState()
	ctx := t.Context()
	as, err := n.Advertisers(ctx, nil)
	check(t, err)
	for _, a := range as {
		s.Advertisers[a.ID] = *a
	}
	cs, err := n.Campaigns(ctx, nil)
	check(t, err)
	for _, c := range cs {
		s.Campaigns[c.ID] = *c
	}
	last := uint64(0)
	for it, err := range n.All(ctx) {
		check(t, err)
		if it.Group.ID <= last {
			t.Fatalf("group %d comes after %d", it.Group.ID, last)
		}
		last = it.Group.ID
		s.Items[last] = *it
	}
	return s
}

// ReadNow reads everything that is committed.
func ReadNow(t testing.TB, s backend.Store) State {
	t.Helper()
	n := snapshot(t, s)
	defer n.Close()
	return Read(t, n)
}

func snapshot(t testing.TB, s backend.Store) backend.Snapshot {
	t.Helper()
	n, err := s.Snapshot(t.Context())
	check(t, err)
	t.Cleanup(func() { n.Close() })
	return n
}

func check(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Lines returns the state as text, one entity a line, without versions. Equal states have equal lines.
func (s State) Lines() []string {
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(s.Advertisers)) {
		a := s.Advertisers[id]
		a.Version = 0
		lines = append(lines, line("advertiser", a))
	}
	for _, id := range slices.Sorted(maps.Keys(s.Campaigns)) {
		c := s.Campaigns[id]
		c.Version = 0
		lines = append(lines, line("campaign", c))
	}
	for _, id := range slices.Sorted(maps.Keys(s.Items)) {
		it := s.Items[id]
		it.Group.Version = 0
		lines = append(lines, line("group", it.Group))
		for _, k := range it.Keywords {
			lines = append(lines, line("  keyword", k))
		}
		for _, n := range it.Negatives {
			lines = append(lines, line("  negative", n))
		}
		for _, a := range it.Ads {
			lines = append(lines, line("  ad", a))
		}
	}
	return lines
}

func line(kind string, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(kind, " ", err)
	}
	// A missing list and an empty one are equal.
	return kind + " " + strings.ReplaceAll(string(b), ":[]", ":null")
}

// Differ returns the differences between two states, or "" if there are none.
func Differ(got, want State) string {
	return differ(got.Lines(), want.Lines())
}

func differ(got, want []string) string {
	if slices.Equal(got, want) {
		return ""
	}
	count := make(map[string]int, len(got))
	for _, l := range got {
		count[l]++
	}
	for _, l := range want {
		count[l]--
	}
	var b strings.Builder
	for _, l := range slices.Sorted(maps.Keys(count)) {
		switch n := count[l]; {
		case n > 0:
			fmt.Fprintf(&b, "got  %s\n", l)
		case n < 0:
			fmt.Fprintf(&b, "want %s\n", l)
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("the same lines in another order:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return b.String()
}
