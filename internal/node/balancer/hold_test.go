package balancer

import (
	"testing"

	"adshard/fault"
)

// TestTheLogIsKeptForCopies: the log of changes is not compacted beyond what a copy of a slave's
// store needs, until the slave reports that the copy no longer needs it.
func TestTheLogIsKeptForCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("short: writes thousands of changes")
	}
	t.Parallel()
	r := newRig(t, 2)
	r.Write(20, 5, 4, 1_000_000)
	r.start()
	r.slave("s0")
	r.slave("s1")
	r.eventually("they are filled", r.whole)
	release := r.slaves["s0"].proxy.Hold()
	held := r.slaves["s0"].store.Position().GetClock()
	for i := range uint64(feedSlack/100 + 5) { // more changes than the slack, 100 at a time
		r.Write(20, 5, 1, 2_000_000+10_000*i)
	}
	r.eventually("they follow", r.whole)
	newest, err := r.DB.Newest(t.Context())
	r.Must(err)
	if newest.Clock < held+feedSlack+100 {
		t.Fatalf("only %d changes", newest.Clock-held)
	}
	least := func() uint64 {
		r.b.mu.Lock()
		defer r.b.mu.Unlock()
		return r.b.leastApplied()
	}
	reported := func(name string) uint64 {
		r.b.mu.Lock()
		defer r.b.mu.Unlock()
		return r.b.slaves[name].position.Clock
	}
	r.eventually("they report", func() bool { return reported("s0") == newest.Clock && reported("s1") == newest.Clock })
	if least() != held {
		t.Fatalf("held at %d, the least is %d", held, least())
	}
	r.Must(r.b.compactFeed(t.Context()))
	if _, err := r.DB.At(t.Context(), held); err != nil {
		t.Fatalf("the log at %d: %v", held, err)
	}
	release()
	r.eventually("it is released", func() bool { return least() == newest.Clock })
	r.Must(r.b.compactFeed(t.Context()))
	if _, err := r.DB.At(t.Context(), held); !fault.Is(err, fault.Stale) {
		t.Fatalf("the log at %d is kept for nobody: %v", held, err)
	}
}
