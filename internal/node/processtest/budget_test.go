package processtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
	"adshard/events/token"
	"adshard/internal/node/collector"
	"adshard/internal/node/database"
	"adshard/internal/node/master"
	"adshard/internal/node/porttest"
	"adshard/search"
)

// budgetLoad is the load while budgets are watched. The long form (make budgets) is the one in docs/budgets.md; the short one
// tests the same in less time.
type budgetLoad struct {
	clicks int           // a second, on the campaign
	events int           // a second, of other campaigns
	spend  time.Duration // how long the budget lasts
	within time.Duration // part of spend that may exceed the budget; if 0, the excess is only reported
}

func budgetLoadOf() budgetLoad {
	if os.Getenv("BUDGETS_LONG") != "" {
		return budgetLoad{clicks: 1000, events: 52_000, spend: 20 * time.Second, within: time.Second}
	}
	// On a machine that is busy with other tests, there are times when nothing but clicks proceeds.
	return budgetLoad{clicks: 500, events: 2000, spend: time.Second}
}

// spenders is the number of connections that send clicks.
const spenders = 16

// spending is a cluster with collectors whose campaigns receive clicks.
type spending struct {
	*cluster
	masterCfg  master.Config
	collectors [2]collector.Config
	of         [2]*process
	url        string // of the master
}

// newSpending starts a cluster with one campaign for each budget. A budget is a number of clicks at the reserve price. Campaign
// N is found by the word "spendN".
func newSpending(t *testing.T, budgets ...int) *spending {
	w := newWorld(t, 0)
	w.campaigns(budgets)
	c := &spending{cluster: newCluster(t, w)}
	c.cfg.Interval = 0
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	for i := range c.collectors {
		cfg := collector.DefaultConfig()
		cfg.Name, cfg.DB, cfg.HTTP, cfg.Admin = fmt.Sprint("collector-", i), w.url(), porttest.Address(t), ""
		c.collectors[i] = cfg
		c.startCollector(i)
	}
	c.masterCfg = master.DefaultConfig()
	c.masterCfg.HTTP, c.masterCfg.Admin, c.masterCfg.Balancer, c.masterCfg.EventTokens = porttest.Address(t), "", c.cfg.Listen, true
	c.url = "http://" + c.masterCfg.HTTP
	c.restartMaster()
	w.follows(c.url)
	eventually(t, "answers with tokens", func() bool { a := c.served(http.DefaultClient, 1); return a != "" && a != noAd })
	return c
}

func (w *world) campaigns(budgets []int) {
	w.t.Helper()
	ctx := w.t.Context()
	tx, err := w.db.Begin(ctx)
	w.must(err)
	defer tx.Rollback()
	for i, clicks := range budgets {
		advertiser, err := tx.Advertiser(ctx, fmt.Sprint("spender ", i+1))
		w.must(err)
		campaign, err := tx.Campaign(ctx, advertiser, "c", backend.CampaignPatch{DailyBudget: backend.To(uint64(clicks) * master.DefaultReserve)})
		w.must(err)
		group, err := tx.Group(ctx, campaign, "g", backend.GroupPatch{Bid: backend.To[uint64](1_000_000)})
		w.must(err)
		word := fmt.Sprint("spend", i+1)
		w.must(tx.Keyword(ctx, group, backend.KeywordPatch{Text: word, Words: word, Type: search.Broad}))
		w.must(tx.Ad(ctx, group, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"}))
	}
	w.must(tx.Commit(ctx))
}

func (c *spending) startCollector(i int) {
	c.t.Helper()
	c.of[i] = start(c.t, "collector", c.collectors[i])
	c.of[i].line("collector listening ")
}

func (c *spending) restartMaster() {
	c.t.Helper()
	c.master = start(c.t, "master", c.masterCfg)
	c.master.line("master listening ")
}

// noAd is what `served` returns for an answer without an ad.
const noAd = "none"

// served returns the token of a campaign's ad. It returns "" if there is no complete answer, or none with tokens.
func (c *spending) served(client *http.Client, campaign int) string {
	resp, err := client.Get(c.url + fmt.Sprintf("/v1/search?q=spend%d&timeout_ms=5000&strict=true", campaign))
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var a struct {
		Ads []struct {
			Token string `json:"event_token"`
			Price uint64 `json:"price_micros"`
		}
	}
	switch err := json.NewDecoder(resp.Body).Decode(&a); {
	case err != nil || resp.StatusCode != http.StatusOK:
		return ""
	case len(a.Ads) == 0:
		return noAd
	case a.Ads[0].Price != master.DefaultReserve:
		c.t.Errorf("a click costs %d", a.Ads[0].Price)
	}
	return a.Ads[0].Token
}

// count sends a body to the collectors in turn until one acknowledges it.
func (c *spending) count(client *http.Client, body string) {
	began := time.Now()
	for try := 0; ; try++ {
		resp, err := client.Post("http://"+c.collectors[try%2].HTTP+"/v1/events", "application/json", strings.NewReader(body))
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Since(began) > patience {
			c.t.Error("a batch is not acknowledged:", err)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// clicks are the clicks on a campaign from `spenders` connections.
type clicks struct {
	clicked, acknowledged atomic.Int64
	lastShown             atomic.Int64 // when an answer with the ad was last requested, in nanoseconds since 1970
	spent                 atomic.Int64 // when it was acknowledged that the budget is spent
	done                  sync.WaitGroup
}

// click begins to click `perSecond` times a second on a campaign with a budget of the given number of clicks. A client that is
// served no ad asks again. `stop` ends this and returns when all clicks are acknowledged.
func (c *spending) click(campaign, budget, perSecond int) (k *clicks, stop func()) {
	k = new(clicks)
	ctx, cancel := context.WithCancel(context.Background())
	for range spenders {
		k.done.Go(func() { c.clicking(ctx, k, campaign, budget, time.Second*spenders/time.Duration(perSecond)) })
	}
	stop = sync.OnceFunc(func() { cancel(); k.done.Wait() })
	c.t.Cleanup(stop)
	return k, stop
}

func (c *spending) clicking(ctx context.Context, k *clicks, campaign, budget int, every time.Duration) {
	const together = 4
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: patience}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(every)
	defer tick.Stop()
	var waiting []string
	send := func() {
		c.count(client, `{"events":[`+strings.Join(waiting, ",")+"]}")
		if k.acknowledged.Add(int64(len(waiting))) >= int64(budget) {
			k.spent.CompareAndSwap(0, time.Now().UnixNano())
		}
		waiting = waiting[:0]
	}
	for ctx.Err() == nil {
		<-tick.C
		asked := time.Now().UnixNano()
		switch token := c.served(client, campaign); token {
		case "":
		case noAd:
			if len(waiting) > 0 {
				send()
			}
		default:
			k.lastShown.Store(max(k.lastShown.Load(), asked))
			k.clicked.Add(1)
			if waiting = append(waiting, fmt.Sprintf(`{"kind":"click","token":%q}`, token)); len(waiting) == together {
				send()
			}
		}
	}
	if len(waiting) > 0 {
		send()
	}
}

// others sends events of unknown campaigns in batches of 500 until `stop` is called. It returns how many were acknowledged a
// second.
func (c *spending) others(perSecond int) (stop func() float64) {
	const size, senders = 500, 4
	keys, err := c.world.db.LoadControl(c.t.Context(), c.cfg.StateKey+events.KeysKey)
	c.world.must(err)
	ring, err := token.ParseRing(keys)
	c.world.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	var counted, nonce atomic.Int64
	var sending sync.WaitGroup
	began := time.Now()
	for range senders {
		sending.Go(func() {
			client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
			defer client.CloseIdleConnections()
			tick := time.NewTicker(time.Second * size * senders / time.Duration(perSecond))
			defer tick.Stop()
			var list [size]string
			for ctx.Err() == nil {
				<-tick.C
				for i := range list {
					n := uint64(nonce.Add(1))
					b, _ := ring.Append(nil, &token.Token{Served: time.Now(), Nonce: n, Position: 1, Advertiser: 1 << 40, Campaign: 1<<40 + n%1000, Keyword: 1, Ad: 1, Price: 1000})
					list[i] = fmt.Sprintf(`{"kind":%q,"token":%q}`, []string{"impression", "click"}[i%2], b)
				}
				c.count(client, `{"events":[`+strings.Join(list[:], ",")+"]}")
				counted.Add(size)
			}
		})
	}
	stop = sync.OnceValue(func() float64 {
		cancel()
		sending.Wait()
		return float64(counted.Load()) / time.Since(began).Seconds()
	})
	c.t.Cleanup(func() { stop() })
	return stop
}

// sum returns the sums of a campaign in the database of events.
func (c *spending) sum(campaign int) (sum store.Sum) {
	c.t.Helper()
	s, err := database.OpenEvents(c.t.Context(), collector.EventsOf(c.world.url()))
	c.world.must(err)
	defer s.Close()
	sums, err := s.Sums(c.t.Context(), 0, uint64(campaign))
	c.world.must(err)
	for _, x := range sums {
		sum.Clicks, sum.Spend = sum.Clicks+x.Clicks, sum.Spend+x.Spend
	}
	return sum
}

// exact compares the sums with the clicks.
func (c *spending) exact(campaign int, k *clicks) {
	c.t.Helper()
	clicked := uint64(k.clicked.Load())
	if k.acknowledged.Load() != k.clicked.Load() {
		c.t.Errorf("%d of %d clicks are acknowledged", k.acknowledged.Load(), clicked)
	}
	if sum := c.sum(campaign); sum.Clicks != clicked || sum.Spend != clicked*master.DefaultReserve {
		c.t.Errorf("%d clicks for %d micros are counted, %d were acknowledged", sum.Clicks, sum.Spend, clicked)
	}
}

// gone waits until no answer has contained the campaign's ad for a while.
func (c *spending) gone(k *clicks) {
	c.t.Helper()
	eventually(c.t, "answers without the campaign", func() bool {
		last := time.Unix(0, k.lastShown.Load())
		return k.spent.Load() > 0 && time.Since(last) > 500*time.Millisecond && c.served(http.DefaultClient, 1) != ""
	})
}

// TestBudgetUnderLoad: a campaign gets clicks from many connections while many more events of other campaigns arrive. Its ads
// disappear after its budget is spent. In the long form, on an otherwise idle machine, the excess is at most what the campaign
// spends in a second.
func TestBudgetUnderLoad(t *testing.T) {
	load := budgetLoadOf()
	budget := int(load.spend.Seconds() * float64(load.clicks))
	c := newSpending(t, budget)
	others := c.others(load.events)
	k, stop := c.click(1, budget, load.clicks)
	c.gone(k)
	stop()
	rate := others()
	c.exact(1, k)
	beyond := float64(c.sum(1).Clicks) - float64(budget)
	fresh := time.Duration(k.lastShown.Load() - k.spent.Load())
	t.Logf("budgets: %d clicks/s from %d connections beside %.0f other events/s; spent beyond a budget of %d clicks: %.0f, %.2f s of spend; last shown %.2f s after the budget was spent",
		load.clicks, spenders, rate, budget, beyond, beyond/float64(load.clicks), fresh.Seconds())
	if most := load.within.Seconds() * float64(load.clicks); most > 0 && beyond > most {
		t.Errorf("%.0f clicks beyond the budget, at most %.0f were expected", beyond, most)
	}
	if beyond < 0 {
		t.Errorf("the campaign is gone, and %.0f clicks of its budget are left", -beyond)
	}
}

// TestBudgetSurvivesKills: collectors, the master and the balancer are killed while a campaign gets clicks. Everything that was
// acknowledged counts exactly once, and the campaign disappears when its budget is spent.
func TestBudgetSurvivesKills(t *testing.T) {
	t.Parallel()
	const perSecond = 400
	rounds := 1
	if os.Getenv("BUDGETS_LONG") != "" {
		rounds = 10
	}
	budget := rounds * 4 * 200
	c := newSpending(t, budget)
	k, stop := c.click(1, budget, perSecond)
	kills := []func(){
		func() { c.of[0].kill(); c.startCollector(0) },
		func() { c.master.kill(); c.restartMaster() },
		func() { c.of[1].kill(); c.startCollector(1) },
		func() { c.parts["balancer"].kill(); c.startBalancer() },
	}
	for i := range rounds * len(kills) {
		eventually(t, "clicks", func() bool { return k.acknowledged.Load() >= int64(i*200+50) })
		kills[i%len(kills)]()
	}
	c.gone(k)
	stop()
	c.exact(1, k)
	if k.clicked.Load() < int64(budget) {
		t.Errorf("the campaign is gone after %d clicks of %d", k.clicked.Load(), budget)
	}
}
