package balancer

import (
	"testing"
	"time"
)

// TestMastersThatHavePreparedAVocabulary: masters that know no vocabularies do not count, nor those whose lease has expired. Within the
// first lease of its term a balancer does not know yet which masters there are.
func TestMastersThatHavePreparedAVocabulary(t *testing.T) {
	const lease, now = time.Hour, 3 * time.Hour
	a, b := &masterReport{vocabulary: "1", received: now}, &masterReport{vocabulary: "1", received: now}
	list := masterReports{"a": a, "b": b, "of an earlier version": {received: now}}
	is := func(version string, want bool) {
		t.Helper()
		if got := list.prepared(version, now, lease); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
	is("1", true)
	if list.prepared("1", lease-1, lease) {
		t.Error("a new leader does not wait for masters that have not called yet")
	}
	is("2", false)
	a.vocabulary = "2"
	is("2", false)
	b.received = now - 2*lease
	is("2", true)
	b.vocabulary, b.received = "2", now
	is("2", true)
}
