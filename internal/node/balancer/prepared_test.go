package balancer

import (
	"testing"
	"time"
)

// TestMastersThatHavePreparedAVocabulary: masters that know no vocabularies do not count, nor those whose lease has expired.
func TestMastersThatHavePreparedAVocabulary(t *testing.T) {
	const lease = time.Hour
	a, b := &masterReport{vocabulary: "1"}, &masterReport{vocabulary: "1"}
	list := masterReports{"a": a, "b": b, "of an earlier version": new(masterReport)}
	is := func(version string, want bool) {
		t.Helper()
		if got := list.prepared(version, -lease); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
	is("1", true)
	is("2", false)
	a.vocabulary = "2"
	is("2", false)
	b.received = -2 * lease
	is("2", true)
	b.vocabulary, b.received = "2", 0
	is("2", true)
}
