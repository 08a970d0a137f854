package processtest

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/internal/node/balancer"
	"adshard/internal/node/config"
	"adshard/search"
)

// TestALargeGroupInASmallSlave: a slave is filled with a group that takes more than its
// buckets, all of whose postings then change, and keeps to its memory.
func TestALargeGroupInASmallSlave(t *testing.T) {
	keywords, memory := 40_000, config.Size(160<<20)
	if os.Getenv("LARGE_GROUP_LONG") != "" {
		keywords, memory = 450_000, 512<<20
	}
	w := newWorld(t, 5)
	group := func(bid uint64, keywords int) {
		ctx := t.Context()
		tx, err := w.db.Begin(ctx)
		w.must(err)
		defer tx.Rollback()
		advertiser, err := tx.Advertiser(ctx, "large")
		w.must(err)
		campaign, err := tx.Campaign(ctx, advertiser, "campaign", backend.CampaignPatch{Languages: backend.To([]string{"en", "cs"})})
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
	c.cfg.Listen, c.parts["balancer"] = p.line("balancer ready "), p
	c.slave[0].Memory = memory
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
		slave, balancer := peakOf(t, c.parts["slave-0"]), peakOf(t, c.parts["balancer"])
		t.Logf("%s: at most %v resident of %v; the balancer %v", what, slave, memory, balancer)
		if slave > memory/10*11 {
			t.Errorf("%s: %v resident, of %v that are given", what, slave, memory)
		}
	}
	shown("filled")
	group(6_000_000, 0)
	shown("all bids changed")
	w.compare(url)
}

// peakOf is the most that a process has had in memory.
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
