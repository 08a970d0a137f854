package rdb

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestSteps: each layout differs from the one named beside it only in what the thesis
// changed.
func TestSteps(t *testing.T) {
	for _, step := range []struct{ name, from, changes string }{
		{"RDB-Pr-In", "RDB-Pr", "matching"},
		{"RDB-Pr-Opt", "RDB-Pr", "matching"},
		{"RDB-Pr-Pr", "RDB-Pr-Opt", "codec records"},
		{"RDB-Pr-Pr-Opt", "RDB-Pr-Pr", "code"},
		{"RDB-Pr-Fl", "RDB-Pr-Pr-Opt", "codec"},
		{"RDB-Pr-NS", "RDB-Pr-Fl", "codec"},
		{"RDB-Pr-Fl-Told", "RDB-Pr-Fl", "records code"},
		{"RDB-Pr-Cp", "RDB-Pr-Fl", "codec"},
		{"RDB-Pr-Fl-Opt", "RDB-Pr-NS-Opt", "codec"},
		{"RDB-Pr-Cp-Opt", "RDB-Pr-Fl-Opt", "codec"},
	} {
		if got := strings.Join(changed(named(step.from), named(step.name)), " "); got != step.changes {
			t.Errorf("%s differs from %s in %s, want %s", step.name, step.from, got, step.changes)
		}
	}
}

// changed names the parts in which two designs differ.
func changed(a, b *design) (out []string) {
	for name, differs := range map[string]bool{
		"codec": a.codec != b.codec, "code": a.code != b.code,
		"matching": !slices.Equal(a.limited.matching, b.limited.matching) || !slices.Equal(a.cached.matching, b.cached.matching),
		"records":  !slices.Equal(a.limited.records, b.limited.records) || !slices.Equal(a.cached.records, b.cached.records),
		"caches":   a.limited.own != b.limited.own || a.cached.own != b.cached.own,
	} {
		if differs {
			out = append(out, name)
		}
	}
	order := []string{"codec", "matching", "records", "caches", "code"}
	slices.SortFunc(out, func(x, y string) int { return slices.Index(order, x) - slices.Index(order, y) })
	return out
}

// TestDefaults: in the layouts before the last step, each database has its own cache, and
// options say where indexes and filters are; look-ups are not tuned.
func TestDefaults(t *testing.T) {
	const option = "cache_index_and_filter_blocks="
	for name, want := range map[string][2]string{ // for the first and the second database
		"RDB-Pr": {"false"}, "RDB-Pr-In": {"true"}, "RDB-Pr-Opt": {"false"}, "RDB-Pr-Pr": {"false", "true"}, "RDB-Pr-Pr-Opt": {"false", "true"},
		"RDB-Pr-Fl": {"false", "true"}, "RDB-Pr-NS": {"false", "true"}, "RDB-Pr-Fl-Told": {"false", "false"},
	} {
		d := named(name)
		if !d.cached.own || !reflect.DeepEqual(d.cached, d.limited) {
			t.Errorf("%s: %+v, where less may be in memory %+v", name, d.cached, d.limited)
		}
		for i, db := range []tuning{d.cached.matching, d.cached.records} {
			if text := db.String(); (want[i] != "") != strings.Contains(text, option) || !strings.Contains(text, option+want[i]) && want[i] != "" {
				t.Errorf("%s, database %d: %s, want %s%s", name, i+1, text, option, want[i])
			}
		}
		if text := d.cached.records.String(); name != "RDB-Pr-Fl-Told" && (strings.Contains(text, "filter_policy") || strings.Contains(text, "Hash")) {
			t.Errorf("%s tunes look-ups: %s", name, text)
		}
	}
}
