package processtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/clustertest"
	"adshard/internal/oracle"
	"adshard/search"
)

// TestAStoreOfTwoMoments: table files that were copied while a slave ran are combined with the log of a later
// moment. They are not served: no answer that counts as complete is wrong, and the slave is filled again
// without help.
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
	w.pause(0, 30)
	w.follows(url)
	c.parts["slave-0"].stop() // the contents of the log go to table files, which the copy lacks
	c.startSlave(0)
	w.write(59, 60)
	w.follows(url)
	c.parts["slave-0"].kill()
	w.must(moment.Restore(dir))
	c.startSlave(0)
	for end := time.Now().Add(patience); !w.judge(url) && time.Now().Before(end); {
	}
	for range 20 {
		w.judge(url)
	}
	w.follows(url)
	w.compare(url)
}

// pause pauses the campaigns of some advertisers.
func (w *world) pause(from, to int) {
	w.t.Helper()
	ctx := w.t.Context()
	tx, err := w.db.Begin(ctx)
	w.must(err)
	defer tx.Rollback()
	for a := from; a < to; a++ {
		advertiser, err := tx.Advertiser(ctx, fmt.Sprint("advertiser ", a))
		w.must(err)
		_, err = tx.Campaign(ctx, advertiser, "campaign", backend.CampaignPatch{Status: backend.Pause})
		w.must(err)
	}
	w.must(tx.Commit(ctx))
}

// judge sends a query and reports whether the answer is complete. A complete answer must equal the oracle's.
func (w *world) judge(base string) (complete bool) {
	w.t.Helper()
	q := w.phrase(3)
	got := ask(w.t, base, q, "&counts=exact", 0)
	if !got.Coverage.Complete {
		return false
	}
	want, err := w.oracle().Search(oracle.Request{Text: q, Profile: search.DefaultProfile(), Slots: 4, Variants: search.Synonym, Reserve: 10_000})
	w.must(err)
	if got.Matched != want.Matched || got.Candidates != want.Candidates || len(got.Ads) != len(want.Ads) {
		w.t.Fatalf("%q: complete, and wrong: %+v, want matched %d, candidates %d, %d ads", q, got, want.Matched, want.Candidates, len(want.Ads))
	}
	return true
}

// TestACrashedSlaveIsComparedBeforeItServes: the data of a slave that crashed are compared with the database
// at once, although the next scrub is far away. From then on, its store counts as cleanly closed.
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
