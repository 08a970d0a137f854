package health

import (
	"errors"
	"strings"
	"testing"
)

// TestOneReasonIsSaidOnce: operations that fail for the same reason are described together.
func TestOneReasonIsSaidOnce(t *testing.T) {
	h := New()
	away := errors.New("the database is away")
	h.Record(ReadChanges, away)
	h.Record(RenewLease, away)
	h.Record(Follow, errors.New("another"))
	got := h.Failures()
	if len(got) != 2 || strings.Count(strings.Join(got, "; "), "is away") != 1 || !strings.Contains(got[0], ReadChanges+", "+RenewLease) {
		t.Errorf("%q", got)
	}
	if !h.says(away.Error()) || h.says("something else") {
		t.Error("what a failure says")
	}
	h.Record(ReadChanges, nil)
	h.Record(RenewLease, nil)
	if got := h.Failures(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
