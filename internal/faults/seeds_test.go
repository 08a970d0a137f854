package faults

import (
	"slices"
	"testing"
	"time"

	strategies "adshard/balance/strategy"
)

// TestSameSchedule: a seed always draws the same schedule, other seeds draw others, and every kind of fault is drawn.
func TestSameSchedule(t *testing.T) {
	drawn, texts, used, switched := make(map[string]int), make(map[string]bool), make(map[string]int), make(map[string]int)
	for seed := range uint64(1000) {
		s := draw(seed, 20*time.Second)
		if again := draw(seed, 20*time.Second).String(); again != s.String() {
			t.Fatalf("drawn twice:\n%s%s", s, again)
		}
		texts[s.String()] = true
		used[s.strategy]++
		if !suits(s.strategy, s.order) {
			t.Errorf("its strategy needs another order: %s", s)
		}
		for i, step := range s.steps {
			drawn[step.kind.name]++
			if f, ok := step.fault.(strategy); ok {
				switched[string(f)]++
				if !suits(string(f), s.order) || string(f) == s.strategy {
					t.Errorf("a switch to %s: %s", f, s)
				}
			}
			if step.at+step.lasts > s.length {
				t.Errorf("it is not over in time: %s", s)
			}
			if slices.ContainsFunc(s.steps[:i], step.collides) {
				t.Errorf("two faults on one part: %s", s)
			}
		}
	}
	if len(texts) != 1000 {
		t.Errorf("1000 seeds draw %d schedules", len(texts))
	}
	for _, k := range kinds() {
		if drawn[k.name] < 10 {
			t.Errorf("%q is drawn %d times in 1000 schedules", k.name, drawn[k.name])
		}
	}
	for _, name := range strategies.Names() {
		if used[name] < 10 || switched[name] == 0 {
			t.Errorf("%d of 1000 schedules begin with %s, %d switches are to it", used[name], name, switched[name])
		}
	}
}

// TestShortSeeds: the seeds of make test include each variant of a cluster.
func TestShortSeeds(t *testing.T) {
	var both, postgres bool
	for i := range uint64(shortCount) {
		s := draw(shortFrom+i, 15*time.Second)
		both, postgres = both || s.tls && s.etcd, postgres || s.database == "postgres"
	}
	if !both || !postgres {
		t.Errorf("one of the seeds has TLS and etcd with it: %v, PostgreSQL: %v", both, postgres)
	}
}
