package collector_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
	"adshard/events/token"
	"adshard/internal/clustertest"
	"adshard/internal/node/collector"
	"adshard/internal/node/database"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/httpapi/apitest"
	"adshard/internal/node/nodetest"
	"adshard/internal/node/ports"
)

func TestMain(m *testing.M) {
	clustertest.BePart()
	m.Run()
}

// rig is a database with campaigns, and collectors that use it.
type rig struct {
	testing.TB
	*nodetest.Database
	document *apitest.Document
	nonce    uint64
	noSweeps bool // collectors check all budgets only when the test says so
}

// newRig creates campaigns with ids from 1, each with a daily budget of 50,000 micros.
func newRig(t testing.TB, campaigns int) *rig {
	r := &rig{TB: t, Database: nodetest.NewDatabase(t), document: apitest.Read(t, httpapi.Spec)}
	tx, err := r.DB.Begin(t.Context())
	r.Must(err)
	defer tx.Rollback()
	a, err := tx.Advertiser(t.Context(), "A")
	r.Must(err)
	for n := range campaigns {
		_, err := tx.Campaign(t.Context(), a, fmt.Sprint("C", n), backend.CampaignPatch{DailyBudget: backend.To(uint64(50_000))})
		r.Must(err)
	}
	r.Must(tx.Commit(t.Context()))
	return r
}

// run runs a collector in this process until the test ends.
func (r *rig) run(name string) *collector.Collector {
	r.TB.Helper()
	return r.runAt(name, time.Now)
}

// runAt is run with a clock and changes of the configuration.
func (r *rig) runAt(name string, now func() time.Time, changes ...func(*collector.Config)) *collector.Collector {
	r.TB.Helper()
	cfg := collector.DefaultConfig()
	for _, change := range changes {
		change(&cfg)
	}
	cfg.Name, cfg.DB, cfg.HTTP, cfg.Admin = name, r.URL(), "127.0.0.1:0", ""
	port, err := ports.Open(nil, "")
	r.Must(err)
	c, err := collector.Open(r.TB.Context(), cfg, r.DB, port, slog.New(slog.DiscardHandler), now)
	r.Must(err)
	if r.noSweeps {
		c.NoSweeps()
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	r.TB.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.TB.Error(err)
		}
		c.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return c
}

// refused opens a collector that must not run, on the database of `cfg`, and returns the error.
func (r *rig) refused(cfg collector.Config) error {
	r.TB.Helper()
	db, err := database.Open(r.TB.Context(), cfg.DB, false)
	r.Must(err)
	defer db.Close()
	port, err := ports.Open(nil, "")
	r.Must(err)
	c, err := collector.Open(r.TB.Context(), cfg, db, port, slog.New(slog.DiscardHandler), time.Now)
	if err == nil {
		c.Close()
	}
	return err
}

// open opens a collector on the rig's database. The caller closes it.
func (r *rig) open(cfg collector.Config) (*collector.Collector, error) {
	r.TB.Helper()
	port, err := ports.Open(nil, "")
	r.Must(err)
	return collector.Open(r.TB.Context(), cfg, r.DB, port, slog.New(slog.DiscardHandler), time.Now)
}

// token returns a new token of a campaign at a price.
func (r *rig) token(campaign, price uint64) string {
	r.TB.Helper()
	return r.sign(r.ring(), campaign, price)
}

// ring returns the keys of tokens.
func (r *rig) ring() *token.Ring {
	r.TB.Helper()
	keys, err := r.DB.LoadControl(r.TB.Context(), "balancer"+events.KeysKey)
	r.Must(err)
	ring, err := token.ParseRing(keys)
	r.Must(err)
	return ring
}

func (r *rig) sign(ring *token.Ring, campaign, price uint64) string {
	return r.signAt(ring, campaign, price, time.Now())
}

func (r *rig) signAt(ring *token.Ring, campaign, price uint64, served time.Time) string {
	r.nonce++
	b, ok := ring.Append(nil, &token.Token{Served: served, Nonce: r.nonce, Position: 1, Advertiser: 1, Campaign: campaign, Keyword: 1, Ad: 1, Price: price})
	if !ok {
		r.TB.Fatal("there is no key")
	}
	return string(b)
}

func event(kind, token string) string { return fmt.Sprintf(`{"kind":%q,"token":%q}`, kind, token) }

func batch(events ...string) string { return `{"events":[` + strings.Join(events, ",") + `]}` }

// post sends a body and checks the answer against the API document.
func (r *rig) post(url, body string) (status int, a api.EventsAnswer, text string) {
	r.TB.Helper()
	res, err := http.Post(url+"/v1/events", "application/json", strings.NewReader(body))
	r.Must(err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	r.Must(err)
	r.document.Answers(r.TB, "/v1/events", "POST", res, string(b))
	if res.StatusCode == http.StatusOK {
		r.Must(json.Unmarshal(b, &a))
	}
	return res.StatusCode, a, string(b)
}

// total returns the sum of all events.
func total(t testing.TB, s store.Store) (sum store.Sum) {
	t.Helper()
	sums, err := s.Sums(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range sums {
		sum.Impressions, sum.Clicks, sum.Spend = sum.Impressions+x.Impressions, sum.Clicks+x.Clicks, sum.Spend+x.Spend
	}
	return sum
}

// events opens the database of events as another process does.
func (r *rig) events() store.Store {
	r.TB.Helper()
	s, err := database.OpenEvents(r.TB.Context(), collector.EventsOf(r.URL()))
	r.Must(err)
	return s
}

// sendAll sends bodies to a collector until there are no more. Each must be acknowledged.
func sendAll(url string, bodies <-chan string) error {
	for body := range bodies {
		res, err := http.Post(url+"/v1/events", "application/json", strings.NewReader(body))
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", res.StatusCode)
		}
	}
	return nil
}
