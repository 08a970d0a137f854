package health

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
)

// TestOneReasonIsSaidOnce: operations that fail for the same reason are described together, whatever words their errors have.
func TestOneReasonIsSaidOnce(t *testing.T) {
	away := fault.Newf(fault.Unavailable, "postgres: health", "the server is away")
	h := New()
	h.Record(ReadChanges, fault.Newf(fault.Unavailable, "postgres: changes", "the server is away"))
	h.Record(RenewLease, fault.Newf(fault.Unavailable, "renew", "no connection to the server: it is away"))
	h.Record(Follow, fault.Newf(fault.Unavailable, "follow", "the server is away"))
	got := h.Failures()
	if len(got) != 2 || !strings.Contains(strings.Join(got, "; "), ReadChanges.what+", "+RenewLease.what) && !strings.Contains(strings.Join(got, "; "), RenewLease.what+", "+ReadChanges.what) {
		t.Errorf("%q", got)
	}
	for err, want := range map[error]bool{
		away: true,
		fault.Newf(fault.NoSpace, "postgres: health", "the server is away"): false,
		errors.New("the server is away"):                                    false,
	} {
		if h.says(err) != want {
			t.Errorf("%v: said %v", err, !want)
		}
	}
	h.Record(ReadChanges, nil)
	h.Record(RenewLease, nil)
	if got := h.Failures(); len(got) != 1 || h.says(away) {
		t.Errorf("%q", got)
	}
}

// TestControlStateElsewhere: what is true of etcd is not of the database.
func TestControlStateElsewhere(t *testing.T) {
	away := fault.Newf(fault.Unavailable, "", "it is away")
	for h, want := range map[*Tracker]int{New(): 1, NewApart(): 2} {
		h.Record(ReadChanges, away)
		h.Record(ReadLeader, away)
		if got := h.Failures(); len(got) != want {
			t.Errorf("%q, want %d", got, want)
		}
	}
}

// TestDefectsAreSaidEach: two defects are two reasons, even if their errors have the same text.
func TestDefectsAreSaidEach(t *testing.T) {
	h := New()
	h.Record(ReadChanges, errors.New("a value cannot be read"))
	h.Record(PrepareData, errors.New("a value cannot be read"))
	if got := h.Failures(); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestAnnounce: a line is printed when there is no reason left against it, and not at all if ctx is done before.
func TestAnnounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		asked := 0
		Announce(t.Context(), &out, "ready", func() []string {
			if asked++; asked < 3 {
				return []string{"not yet"}
			}
			return nil
		})
		if out.String() != "ready\n" || asked != 3 {
			t.Errorf("%q after %d", out.String(), asked)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if Announce(ctx, &out, "never", func() []string { return []string{"not yet"} }); out.String() != "ready\n" {
			t.Errorf("%q", out.String())
		}
	})
}
