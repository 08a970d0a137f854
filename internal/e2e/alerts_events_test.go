package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/backend"
	"adshard/internal/node/collector"
	"adshard/internal/node/porttest"
	"adshard/internal/node/up"
)

// causesOfEvents are brought about in an `adshard up` whose collector learns every second, and in which shown ads are
// clicked all the time.
var causesOfEvents = []cause{
	{cluster: "events", what: "tokens that the cluster has not signed", alerts: []string{"AdshardEventsRejected"},
		bring: func(r *alarmed) {
			r.undo = r.again(func() { r.click(forged(r.token())) })
		},
		end: (*alarmed).ended, ends: []string{"AdshardEventsRejected"}},
	{cluster: "events", what: "damaged rows", alerts: []string{"AdshardBudgetChecksFail", "AdshardLearningFails"},
		bring: func(r *alarmed) { r.damages(+1) },
		end:   func(r *alarmed) { r.damages(-1) }, ends: []string{"AdshardBudgetChecksFail"}},
	{cluster: "events", what: "a database of events that another program has locked", alerts: []string{"AdshardEventsRefused"}, long: true,
		bring: func(r *alarmed) { r.locks(strings.TrimPrefix(collector.EventsOf(r.db.URL()), "sqlite:")) },
		end:   (*alarmed).ended, ends: []string{"AdshardEventsRefused"}},
	{cluster: "events", what: "a database that another program has locked", alerts: []string{"AdshardLearningFails", "AdshardNoBalancerLeads"}, long: true,
		bring: func(r *alarmed) { r.locks(r.db.Path) }, end: (*alarmed).ended, ends: []string{"AdshardLearningFails", "AdshardNoBalancerLeads"}},
}

func startEvents(t *testing.T) *alarmed {
	r := newAlarmed(t)
	tx, err := r.db.DB.Begin(t.Context())
	r.must(err)
	defer tx.Rollback()
	for a := range 20 {
		_, err = tx.Campaign(t.Context(), uint64(a)+1, "campaign", backend.CampaignPatch{DailyBudget: backend.To(uint64(1_000_000_000_000))})
		r.must(err)
	}
	r.must(tx.Commit(t.Context()))
	events := porttest.Address(t)
	r.targets["up"] = porttest.Address(t)
	r.watched(r.targets["up"])
	c := startCluster(t, r.closed(), 1, false, "default", func(cfg *up.Config) {
		cfg.Admin, cfg.Collector, cfg.Quality, cfg.LearnEvery = r.targets["up"], events, collector.QualityLearned, time.Second
	})
	r.db.Path, r.events = c.db, "http://"+events
	r.url = c.http
	r.until("answers with tokens", func() bool { return r.token() != "" })
	r.again(func() { r.click(r.token()) })
	return r
}

// again repeats do until stop is called.
func (r *alarmed) again(do func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var doing sync.WaitGroup
	for range 4 {
		doing.Go(func() {
			for ctx.Err() == nil {
				do()
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); doing.Wait() })
	r.Cleanup(stop)
	return stop
}

// token returns the token of the first ad of an answer, or "" if there is none.
func (r *alarmed) token() string {
	resp, err := http.Get(r.url + "/v1/search?timeout_ms=5000&q=word1+usb1+cable")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var a struct {
		Ads []struct {
			Token string `json:"event_token"`
		}
	}
	if json.NewDecoder(resp.Body).Decode(&a) != nil || len(a.Ads) == 0 {
		return ""
	}
	return a.Ads[0].Token
}

// forged returns the token with one character changed near its end, where the signature is.
func forged(token string) string {
	if token == "" {
		return ""
	}
	b := []byte(token)
	if i := len(b) - 5; b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}

// click reports that an ad was shown and clicked.
func (r *alarmed) click(token string) {
	body := fmt.Sprintf(`{"events":[{"kind":"impression","token":%q},{"kind":"click","token":%q}]}`, token, token)
	resp, err := http.Post(r.events+"/v1/events", "application/json", strings.NewReader(body))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// sql changes a SQLite database, as another program or a disk would.
func (r *alarmed) sql(path, text string) {
	r.Helper()
	c, err := zs.OpenConn(path, zs.OpenReadWrite)
	r.must(err)
	defer c.Close()
	c.SetBusyTimeout(10 * time.Second)
	r.must(sqlitex.ExecuteTransient(c, text, nil))
}

// damages adds n to the sums by which damage of campaigns and groups is found.
func (r *alarmed) damages(n int) {
	r.Helper()
	for _, table := range []string{"campaign", "ad_group"} {
		r.sql(r.db.Path, fmt.Sprintf("UPDATE %s SET sum = sum + %d", table, n))
	}
}

// locks begins a write transaction in a SQLite database, and does not end it.
func (r *alarmed) locks(path string) {
	r.Helper()
	c, err := zs.OpenConn(path, zs.OpenReadWrite)
	r.must(err)
	c.SetBusyTimeout(10 * time.Second)
	r.must(sqlitex.ExecuteTransient(c, "BEGIN IMMEDIATE", nil))
	r.undo = sync.OnceFunc(func() { _ = c.Close() })
	r.Cleanup(r.undo)
}
