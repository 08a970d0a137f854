package inetcd_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"adshard/internal/node/nodetest"
)

// TestHistoryIsCompacted: a leader removes old revisions, which etcd would otherwise keep forever. The state that was saved
// last remains.
func TestHistoryIsCompacted(t *testing.T) {
	t.Parallel()
	etcd := start(t, 1)
	s := open(t, etcd.URL(), nodetest.NewDatabase(t).DB, "c")
	s.CompactEvery(50 * time.Millisecond)
	term, _ := leads(t, s, a)
	must(t, save(t, term, "first"))
	old, err := s.Revision(t.Context())
	must(t, err)
	must(t, s.At(t.Context(), old))
	value := ""
	eventually(t, "an old revision is compacted", func() bool {
		value += fmt.Sprint(len(value))
		must(t, save(t, term, value))
		return errors.Is(s.At(t.Context(), old), rpctypes.ErrCompacted)
	})
	got, err := term.Load(t.Context(), "/model")
	if must(t, err); string(got) != value {
		t.Errorf("%q, want %q", got, value)
	}
}
