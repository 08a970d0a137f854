package processtest

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/balancer"
	"adshard/internal/node/config"
	"adshard/search"
)

// TestALargeGroupInASmallSlave: a slave is filled with a group that is larger than its buckets, all
// postings of the group then change, and the slave stays within its memory. So does the slave that
// replaces it, including on a busy machine.
func TestALargeGroupInASmallSlave(t *testing.T) {
	keywords, memory, drained := 30_000, config.Size(192<<20), 3*patience
	if os.Getenv("LARGE_GROUP_LONG") != "" {
		keywords, memory, drained = 450_000, 512<<20, 20*time.Minute
	}
	w := newWorld(t, 5)
	group := func(bid uint64, keywords int) {
		ctx := t.Context()
		tx, err := w.db.Begin(ctx)
		w.must(err)
		defer tx.Rollback()
		advertiser, err := tx.Advertiser(ctx, "large")
		w.must(err)
		campaign, err := tx.Campaign(ctx, advertiser, "campaign", backend.CampaignPatch{Languages: backend.To(backend.LanguagesOf("en", "cs"))})
		w.must(err)
		id, err := tx.Group(ctx, campaign, "group", backend.GroupPatch{Bid: backend.To(bid)})
		w.must(err)
		for i := range keywords {
			text := fmt.Sprintf("word%d other%d part%d", i%5_000, i%977, i)
			w.must(tx.Keyword(ctx, id, backend.KeywordPatch{Text: text, Words: text, Type: search.Broad}))
		}
		w.must(tx.Ad(ctx, id, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"}))
		w.must(tx.Commit(ctx))
	}
	group(5_000_000, keywords)
	c := newCluster(t, w)
	c.cfg = balancer.DefaultConfig()
	c.cfg.DB, c.cfg.Listen, c.cfg.Admin, c.cfg.Slaves = w.url(), anyPort, anyPort, 1
	p := start(t, "balancer", c.cfg)
	c.admin = p.line("admin ")
	c.cfg.Listen, c.parts["balancer"] = p.line("balancer ready "), p
	c.slave[0].Memory, c.slave[1].Memory = memory, memory
	c.startSlave(0)
	url := c.startMaster()
	shown := func(what string) {
		t.Helper()
		w.follows(url)
		i := keywords - 1
		a := ask(t, url, fmt.Sprintf("word%d other%d part%d", i%5_000, i%977, i), "&counts=exact", http.StatusOK)
		if a.Matched != 1 || len(a.Ads) != 1 {
			t.Errorf("%s: %+v", what, a)
		}
		for name, p := range c.parts {
			peak := peakOf(t, p)
			t.Logf("%s: %s has taken %v at most", what, name, peak)
			if name != "balancer" && peak > memory/10*11 {
				t.Errorf("%s: %s has taken %v, of %v that are given", what, name, peak, memory)
			}
		}
	}
	shown("filled")
	group(6_000_000, 0)
	shown("all bids changed")
	c.startSlave(1)
	eventually(t, "there is another to drain it to", func() bool {
		status, _ := c.tell("/v1/slaves/slave-0/drain")
		return status == http.StatusOK
	})
	began := time.Now()
	for groupsOf(slaves(t, c.admin), "slave-0") > 0 {
		if time.Since(began) > drained {
			t.Fatalf("not drained within %v: %s", drained, read(t, c.admin+"/v1/balance"))
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("drained after %v", time.Since(began).Round(time.Second))
	shown("drained")
	w.compare(url)
}

// peakOf returns the largest amount of memory that a process has used.
func peakOf(t *testing.T, p *process) (peak config.Size) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			if _, err := fmt.Sscanf(text, "%d kB", &peak); err != nil {
				t.Fatal(err)
			}
		}
	}
	return peak << 10
}
