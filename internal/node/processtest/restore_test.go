package processtest

import (
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"adshard/internal/node/database"
)

// TestARestoreUnderQueries: the database is backed up while changes are written, and the backup is
// restored later, while all processes run and queries are sent. Each query is answered, slaves that
// are ahead are compared and refilled, and later changes reach them.
func TestARestoreUnderQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	url := c.startMaster()
	w.follows(url)
	backup := filepath.Join(t.TempDir(), "backup")
	m, err := database.Backup(t.Context(), w.path, "", backup, nil)
	w.must(err)
	before := w.clock()
	w.write(20, 80) // new bids of others, and new advertisers
	w.follows(url)
	w.compare(url)

	end := make(chan struct{})
	var queries sync.WaitGroup
	asked := 0
	queries.Go(func() {
		for client := http.DefaultClient; ; asked++ {
			select {
			case <-end:
				return
			default:
			}
			resp, err := client.Get(url + "/v1/search?q=usb&timeout_ms=5000")
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("a query: %s", resp.Status)
			}
		}
	})
	r, err := database.Restore(t.Context(), backup, w.path, "", true, nil)
	w.must(err)
	if r.Kept == "" || m.Clock != before || w.clock() != before {
		t.Errorf("%+v; the backup is at clock %d, the database was at %d and is at %d", r, m.Clock, before, w.clock())
	}
	eventually(t, "the restored database is followed", func() bool {
		a := ask(t, url, "usb", "", 0)
		return a.Coverage.Complete && a.Coverage.AppliedClock <= before
	})
	w.follows(url)
	w.compare(url)
	w.write(0, 30)
	w.follows(url)
	w.compare(url)
	close(end)
	queries.Wait()
	if asked == 0 {
		t.Error("no query was asked meanwhile")
	}
}
