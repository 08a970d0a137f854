package processtest

import (
	"strings"
	"testing"
	"time"

	"adshard/internal/clustertest"
	"adshard/internal/oracle"
	"adshard/search"
)

// TestAStoreOfTwoMoments: table files that were copied while a slave ran, with the log of a later
// moment, are not served: no answer that counts as complete is wrong, and the slave is filled again by itself.
func TestAStoreOfTwoMoments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)
	dir := c.slave[0].Dir
	c.parts["slave-0"].stop() // so that there are table files
	c.startSlave(0)
	w.follows(url)
	moment, err := clustertest.TakeMoment(dir)
	w.must(err)
	w.write(0, 60)
	w.follows(url)
	c.parts["slave-0"].stop() // what is in the log goes to table files, which the moment lacks
	c.startSlave(0)
	w.write(0, 10)
	w.follows(url)
	c.parts["slave-0"].kill()
	w.must(moment.Restore(dir))
	c.startSlave(0)
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		w.judge(url)
	}
	w.follows(url)
	w.compare(url)
}

// judge asks once: an answer that is incomplete says so, another one is the oracle's.
func (w *world) judge(base string) {
	w.t.Helper()
	q := w.phrase(3)
	got := ask(w.t, base, q, "&counts=exact&timeout_ms=300", 0)
	if !got.Coverage.Complete {
		return
	}
	want, err := w.oracle().Search(oracle.Request{Text: q, Profile: search.DefaultProfile(), Slots: 4, Variants: search.Synonym, Reserve: 10_000})
	w.must(err)
	if got.Matched != want.Matched || got.Candidates != want.Candidates || len(got.Ads) != len(want.Ads) {
		w.t.Fatalf("%q: complete, and wrong: %+v, want matched %d, candidates %d, %d ads", q, got, want.Matched, want.Candidates, len(want.Ads))
	}
}

// TestACrashedSlaveIsComparedBeforeItServes: what it has is compared with the database at once, though the
// scrub is far away, and its store counts as closed from then on.
func TestACrashedSlaveIsComparedBeforeItServes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)
	w.write(0, 10)
	w.follows(url)
	c.parts["slave-0"].kill()
	c.startSlave(0)
	w.follows(url)
	w.compare(url)
	eventually(t, "its slices are compared", func() bool {
		return strings.Contains(read(t, c.admin+"/v1/balance"), "slices compared with the source of truth")
	})
}
