package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/porttest"
	"adshard/internal/node/slave"
	"adshard/search"
)

// replicated returns a running cluster of one shard with the given number of replicas.
func replicated(t *testing.T, w *world, replicas int) (c *cluster, url string) {
	t.Helper()
	c = newCluster(t, w)
	c.cfg.Slaves, c.cfg.Replicas, c.cfg.DeadAfter = replicas, replicas, 2*time.Second
	for i := len(c.slave); i < replicas; i++ {
		s := c.slave[0]
		s.Name = fmt.Sprintf("slave-%d", i)
		s.Dir = dir(t, s.Name)
		c.slave = append(c.slave, s)
	}
	c.startBalancer()
	for i := range replicas {
		c.slave[i].Listen, c.slave[i].Admin, c.slave[i].CopyRate = porttest.Address(t), anyPort, 1<<20
		c.startSlave(i)
	}
	url = c.startMaster()
	w.follows(url)
	c.whole() // a replica that is not filled yet leaves the set, and the other one is alone
	return c, url
}

// empty kills a slave and removes all its data.
func (c *cluster) empty(i int) {
	c.t.Helper()
	c.parts[c.slave[i].Name].kill()
	c.world.must(os.RemoveAll(c.slave[i].Dir))
}

// whole waits until all slaves of the only shard have all their data and are asked.
func (c *cluster) whole() {
	c.t.Helper()
	eventually(c.t, "all slaves are in their sets", func() bool {
		for _, s := range c.slave { // the balancer may not have heard of a restart yet
			if status(c.t, c.parts[s.Name].line("admin ")+"/readyz") != http.StatusOK {
				return false
			}
		}
		var list struct {
			Slaves []struct {
				Alive, Serving bool
				Groups         uint64
				WaitsFor       string `json:"waits_for"`
			}
		}
		c.world.must(json.Unmarshal([]byte(read(c.t, c.admin+"/v1/slaves")), &list))
		for _, s := range list.Slaves {
			if !s.Alive || !s.Serving || s.WaitsFor != "" || s.Groups != list.Slaves[0].Groups {
				return false
			}
		}
		return len(list.Slaves) == len(c.slave)
	})
}

// complete sends queries, each of which must be answered in full because a replica is alive.
func complete(t *testing.T, url string) {
	t.Helper()
	for i := range 20 {
		if a := ask(t, url, vocabulary[i], "", http.StatusOK); !a.Coverage.Complete {
			t.Fatalf("query %d after a replica died: %+v", i, a.Coverage)
		}
	}
}

// copiedAll fails the test if a slave was filled with node data.
func (c *cluster) copiedAll(i, most int) {
	c.t.Helper()
	if n := metric(c.t, c.parts[c.slave[i].Name].line("admin "), "adshard_items_applied_total"); n > float64(most) {
		c.t.Errorf("%v groups were written on %s: it was filled by node data", n, c.slave[i].Name)
	}
}

// TestAnEmptiedReplicaIsReplaced: an emptied replica is replaced by a copy of its sibling,
// killed several times on the way, while data change. Only the copy is right.
func TestAnEmptiedReplicaIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 300)
	c, url := replicated(t, w, 2)
	c.empty(1)
	for i := range 3 {
		c.startSlave(1)
		time.Sleep(time.Duration(100+300*i) * time.Millisecond)
		c.parts["slave-1"].kill()
		complete(t, url)
		w.write(10*i, 10*i+10)
		w.follows(url)
	}
	c.slave[1].CopyRate = slave.DefaultConfig().CopyRate
	c.startSlave(1)
	c.whole()
	c.copiedAll(1, 300)
	w.write(40, 50)
	w.follows(url)
	w.compare(url)
	c.parts["slave-0"].kill()
	complete(t, url)
	w.write(50, 60)
	w.follows(url)
	w.compare(url)
}

// TestTheSourceOfACopyDies: the source of a copy dies at some step, and either comes back or does
// not. The slave continues with it, with the next sibling, or with node data.
func TestTheSourceOfACopyDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 300)
	c, url := replicated(t, w, 3)
	for i, back := range []bool{true, false, true} {
		c.empty(1)
		c.startSlave(1)
		source := ""
		eventually(t, "it copies, or has copied", func() bool {
			var v struct {
				Copies []struct{ Slave, Source string }
			}
			w.must(json.Unmarshal([]byte(read(t, c.admin+"/v1/balance")), &v))
			for _, c := range v.Copies {
				source = c.Source
			}
			return source != "" || !strings.Contains(read(t, c.admin+"/v1/slaves"), `"waits_for":"`)
		})
		if source == "" {
			source = "slave-2"
		}
		time.Sleep(time.Duration(150*i) * time.Millisecond)
		c.parts[source].kill()
		n := int(source[len(source)-1] - '0')
		if back {
			c.startSlave(n)
		}
		w.write(20*i, 20*i+20)
		eventually(t, "the emptied slave is in its set", func() bool {
			return c.parts["slave-1"] != nil && status(t, c.parts["slave-1"].line("admin ")+"/readyz") == http.StatusOK
		})
		if !back {
			c.startSlave(n)
		}
		c.whole()
		w.follows(url)
		w.compare(url)
	}
}

// TestNoSiblingMayBeCopied: a sibling that does not trust the slave refuses to be copied, and the
// slave is filled with node data.
func TestNoSiblingMayBeCopied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	c, url := replicated(t, w, 2)
	c.parts["slave-0"].kill()
	c.slave[0].TrustedSlaves = []string{"192.0.2.1"}
	c.startSlave(0)
	c.whole()
	c.empty(1)
	c.startSlave(1)
	c.whole()
	w.follows(url)
	w.compare(url)
	if n := metric(t, c.parts["slave-1"].line("admin "), "adshard_items_applied_total"); n < 240 {
		t.Errorf("%v groups were written", n)
	}
}

// TestACopyAtTheStartIsSeen: while a slave copies before it serves, its admin port answers, says
// what the slave is doing, and that it is not ready.
func TestACopyAtTheStartIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	c := newCluster(t, w)
	cfg := c.slave[0]
	cfg.Balancer, cfg.Admin, cfg.Dir = c.cfg.Listen, anyPort, filepath.Join(t.TempDir(), "copy")
	cfg.CopyFrom = "127.0.0.1:1" // nothing listens there
	p := start(t, "slave", cfg)
	admin := p.line("admin ")
	eventually(t, "it says that it copies", func() bool {
		code, body := fetch(t, admin+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "copies the store of 127.0.0.1:1")
	})
	if status(t, admin+"/livez") != http.StatusOK {
		t.Error("it is not alive")
	}
}

// TestAWriteIsSeenByTheNextQuery: a query that names the position of a write sees the write,
// whichever replica answers, and no replica answers with older data. A position in the future is
// not ignored.
func TestAWriteIsSeenByTheNextQuery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	campaign := w.zebra()
	c, url := replicated(t, w, 2)
	toggle := func() {
		t.Helper()
		for i := range 20 {
			exhausted := i%2 == 0
			body := strings.NewReader(fmt.Sprintf(`{"exhausted":%v}`, exhausted))
			resp, err := http.Post(fmt.Sprintf("%s/v1/campaigns/%d/budget", c.admin, campaign), "application/json", body)
			w.must(err)
			var v struct {
				MinClock string `json:"min_clock"`
			}
			err = json.NewDecoder(resp.Body).Decode(&v)
			_ = resp.Body.Close()
			w.must(err)
			want := uint64(1)
			if exhausted {
				want = 0
			}
			if a := ask(t, url, "zebra", "&counts=exact&min_clock="+v.MinClock, http.StatusOK); a.Candidates != want || !a.Coverage.Complete {
				t.Fatalf("write %d with position %q: %+v, want %d candidates", i, v.MinClock, a, want)
			}
		}
	}
	toggle()
	for i := range 2 { // each of them separately
		c.parts[c.slave[i].Name].kill()
		complete(t, url)
		toggle()
		c.startSlave(i)
		c.whole()
	}
	future := search.Position{Clock: w.clock() + 1000}
	_ = ask(t, url, "zebra", "&timeout_ms=200&min_clock="+future.String(), http.StatusServiceUnavailable)
}

// zebra writes a campaign that has the only keyword for zebras, and returns its id.
func (w *world) zebra() uint64 {
	w.t.Helper()
	ctx := w.t.Context()
	tx, err := w.db.Begin(ctx)
	w.must(err)
	defer tx.Rollback()
	advertiser, err := tx.Advertiser(ctx, "zoo")
	w.must(err)
	campaign, err := tx.Campaign(ctx, advertiser, "animals", backend.CampaignPatch{Status: backend.Enable, Languages: backend.To(backend.LanguagesOf("en"))})
	w.must(err)
	group, err := tx.Group(ctx, campaign, "stripes", backend.GroupPatch{Status: backend.Enable, Bid: backend.To(uint64(1_000_000))})
	w.must(err)
	w.must(tx.Keyword(ctx, group, backend.KeywordPatch{Text: "zebra", Words: "zebra", Status: backend.Enable, Type: search.Broad, Quality: backend.To(uint8(9))}))
	w.must(tx.Ad(ctx, group, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"}))
	w.must(tx.Commit(ctx))
	return campaign
}
