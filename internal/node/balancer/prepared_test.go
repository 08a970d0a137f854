package balancer

import (
	"testing"
	"time"
)

// TestANewLeaderWaitsForMasters: within the first lease of its term a balancer does not know yet which masters there are.
func TestANewLeaderWaitsForMasters(t *testing.T) {
	r := newRig(t, 1)
	r.b.started = time.Now()
	if vocabularyOf(r.b).Prepared("1") {
		t.Error("masters of the last leader are not waited for")
	}
	r.b.started = time.Now().Add(-r.b.cfg.MasterLease)
	if !vocabularyOf(r.b).Prepared("1") {
		t.Error("masters that do not call are waited for")
	}
}

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
