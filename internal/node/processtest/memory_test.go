package processtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/balancer"
	"adshard/internal/node/config"
)

// wide is a database in which each posting list has few keywords, which is the worst ratio of heads
// to postings.
type wide struct{ groups, perGroup, words int }

// text returns the text of the `i`-th keyword.
func (d wide) text(i int) string {
	return fmt.Sprintf("word%d other%d", i%d.words, (i*7919+i/d.words)%d.words)
}

// write writes the groups from `from` to before `to` with new bids, up to 200 in a transaction.
func (d wide) write(w *world, from, to int) {
	w.t.Helper()
	ctx := w.t.Context()
	for from < to {
		tx, err := w.db.Begin(ctx)
		w.must(err)
		end := min(to, from+200)
		for ; from < end; from++ {
			advertiser, err := tx.Advertiser(ctx, fmt.Sprint("advertiser ", from/10))
			w.must(err)
			campaign, err := tx.Campaign(ctx, advertiser, "campaign", backend.CampaignPatch{Status: backend.Enable, Languages: backend.To(backend.LanguagesOf("en"))})
			w.must(err)
			group, err := tx.Group(ctx, campaign, fmt.Sprint("group ", from), backend.GroupPatch{Status: backend.Enable, Bid: backend.To(uint64(10_000 * (1 + w.rnd.IntN(300))))})
			w.must(err)
			n := d.perGroup
			if from == 0 { // one of the largest groups
				n *= 100
			}
			for k := range n {
				text := d.text(from*d.perGroup + k)
				w.must(tx.Keyword(ctx, group, backend.KeywordPatch{Text: text, Words: text, Status: backend.Enable, Quality: backend.To(uint8(1 + w.rnd.IntN(10)))}))
			}
			w.must(tx.Ad(ctx, group, backend.AdPatch{
				Headlines:    []string{strings.Repeat("headline ", 3), strings.Repeat("another ", 3)},
				Descriptions: []string{strings.Repeat("description ", 7)}, FinalURL: fmt.Sprint("https://shop.example/", from),
			}))
		}
		w.must(tx.Commit(ctx))
	}
}

// residentOf returns how much memory a process uses now.
func residentOf(pid int) (config.Size, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseUint(strings.Fields(string(raw))[1], 10, 64)
	return config.Size(pages * uint64(os.Getpagesize())), err
}

// changesPerSecond is the largest number of keywords that change in a second.
const changesPerSecond = 50_000

// TestASlaveKeepsToItsMemory: whatever is searched and changed, the memory of a slave's process
// stays below the given amount plus a tenth. Each query uses lists and groups that no earlier one
// used, more than fit in memory, while groups change.
func TestASlaveKeepsToItsMemory(t *testing.T) {
	memory, d, seconds := config.Size(128<<20), wide{groups: 1500, perGroup: 40, words: 20_000}, 4
	if os.Getenv("MEMORY_LONG") != "" {
		// With less memory, a slave refuses to open a store of 300,000 terms.
		memory, d, seconds = 160<<20, wide{groups: 20_000, perGroup: 40, words: 150_000}, 120
	}
	w := newWorld(t, 1)
	d.write(w, 0, d.groups)
	c := newCluster(t, w)
	c.cfg = balancer.DefaultConfig()
	c.cfg.DB, c.cfg.Listen, c.cfg.Admin, c.cfg.Slaves = w.url(), anyPort, anyPort, 1
	p := start(t, "balancer", c.cfg)
	c.cfg.Listen = p.line("balancer ready ")
	c.slave[0].Memory = memory
	c.startSlave(0)
	url := c.startMaster()
	w.follows(url)

	pid, most, at := c.parts["slave-0"].cmd.Process.Pid, config.Size(0), time.Now()
	var asked, changed atomic.Int64 // keywords
	var asking sync.WaitGroup
	begun := time.Now()
	// It ends when all lists have been used, or on a busy machine when patience ends.
	over := func() bool {
		took := time.Since(begun)
		return took > time.Duration(seconds)*time.Second && asked.Load() >= int64(d.words) || took > time.Duration(seconds)*time.Second+patience
	}
	for range 2 {
		asking.Go(func() {
			for !over() {
				var words []string
				for n := asked.Add(16); len(words) < 16; n++ {
					words = append(words, d.text(int(n)))
				}
				ask(t, url, strings.Join(words, " "), "&slots=20", 0)
			}
		})
	}
	asking.Go(func() {
		for from := 0; !over(); from = (from + 100) % d.groups {
			to := min(d.groups, from+100)
			d.write(w, from, to)
			n := changed.Add(int64((to - from) * d.perGroup))
			time.Sleep(time.Until(begun.Add(time.Duration(n) * time.Second / changesPerSecond)))
		}
	})
	for !over() {
		now, err := residentOf(pid)
		if err != nil {
			t.Fatal(err)
		}
		if now > most {
			most, at = now, time.Now()
		}
		time.Sleep(10 * time.Millisecond)
	}
	asking.Wait()
	took := time.Since(begun).Seconds()
	t.Logf("%d keywords were asked for, %.0f a second changed; at most %v resident, after %.1f s", asked.Load(),
		float64(changed.Load())/took, most, at.Sub(begun).Seconds())
	if most > memory/10*11 {
		t.Errorf("%v resident, of %v that are given", most, memory)
	}
	if asked.Load() < int64(d.words) {
		t.Errorf("only %d keywords were asked for", asked.Load())
	}
	w.follows(url)
}
