package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"adshard/backend/sqlite"
	"adshard/balance/strategy"
	"adshard/internal/clustertest"
	"adshard/internal/node/up"
)

// TestTargetingGoldenMoving asks clusters of 1, 3 and 7 slaves, of one replica or two, directly and over streams, for a sample of the golden
// set each, while strategies move slices, and campaigns, block lists and the table of places change in ways that mean nothing to the
// answers.
func TestTargetingGoldenMoving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	if err := importInto(t, path, goldenTargeting(t).Files).Close(); err != nil {
		t.Fatal(err)
	}
	all := goldenRequests(t)
	dice := rand.New(rand.NewPCG(40, 1))
	dice.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, p := range []placement{{1, 1, false}, {3, 1, true}, {7, 1, false}, {7, 2, true}} {
		t.Run(p.String(), func(t *testing.T) {
			if testing.Short() && i != 1 {
				t.Skip("short: 3 slaves over streams")
			}
			const sample = 150
			m := newMoving(t, path, p)
			m.during(func() {
				for n, end := 0, time.Now().Add(time.Minute); n < sample || m.moves && m.moved() == 0 && time.Now().Before(end); n++ {
					if m.ask(n, all[(i*sample+n)%len(all)]); n >= sample {
						time.Sleep(50 * time.Millisecond) // the first move is waited for
					}
				}
			})
		})
	}
}

// moving is a cluster in which slices move and data change.
type moving struct {
	*cluster
	t        *testing.T
	admin    *clustertest.Client
	stirring *clustertest.Stirrer
	moves    bool // there is more than one shard
}

// newMoving starts a cluster of a placement; its shards are its slaves.
func newMoving(t *testing.T, db string, p placement) *moving {
	t.Helper()
	c := startCluster(t, db, p.shards, false, "default", func(cfg *up.Config) {
		if !p.streams {
			cfg.Transport = up.TransportDirect
		}
		cfg.Replicas, cfg.Strategy, cfg.Order, cfg.Interval = p.replicas, "original", "advertiser", 200*time.Millisecond
	})
	m := &moving{cluster: c, t: t, admin: clustertest.NewClient(10*time.Second, nil, c.admin), moves: p.shards/p.replicas > 1}
	t.Cleanup(m.admin.Close)
	store, err := sqlite.Open(t.Context(), c.db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if m.stirring, err = clustertest.NewStirrer(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return m
}

// during has strategies switch and data change while f asks.
func (m *moving) during(f func()) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := m.stirring.Run(ctx, 20, nil); err != nil {
			m.t.Errorf("changing the data: %v", err)
		}
	})
	all.Go(func() { m.strategies(ctx) })
	f()
	cancel()
	all.Wait()
	changes, moved := m.stirring.Changes(), m.moved()
	if m.t.Logf("%d changes, %d items moved", changes, moved); changes == 0 || m.moves && moved == 0 {
		m.t.Error("nothing has changed, or nothing has moved")
	}
}

// moved is how many groups have moved.
func (m *moving) moved() uint64 {
	m.t.Helper()
	status, err := m.admin.Status()
	if err != nil {
		m.t.Error(err)
	}
	return status.Moved.Items
}

// strategies switches to the one that moves most and, once something has moved, from one to the next.
func (m *moving) strategies(ctx context.Context) {
	names := append([]string{"random"}, strategy.Names()...)
	for i := 0; m.moves && ctx.Err() == nil; i++ {
		if err := m.admin.Post(ctx, "/v1/balance/strategy", map[string]string{"name": names[i%len(names)]}); err != nil && ctx.Err() == nil {
			m.t.Errorf("switch the strategy: %v", err)
		}
		for first := true; first || i == 0 && m.moved() == 0 && ctx.Err() == nil; first = false {
			select {
			case <-ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}
}

// ask asks until the answer is complete, and compares it.
func (m *moving) ask(n int, q goldenRequest) {
	m.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		status, body := m.post(q)
		diff, complete := q.want.difference(m.t, status, body)
		switch {
		case complete && diff != "":
			m.t.Errorf("request %d %v:\n%s", n, q.request, diff)
			return
		case complete:
			return
		case time.Now().After(end):
			m.t.Fatalf("request %d %v: no complete answer: %s", n, q.request, body)
		}
	}
}

func (m *moving) post(q goldenRequest) (status int, answer []byte) {
	m.t.Helper()
	body := targetedBody(m.t, q.request, map[string]any{"timeout_ms": 5000})
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.http+"/v1/search", bytes.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	targetedHeaders(r, q.request)
	resp, err := m.client.Do(r)
	if err != nil {
		m.t.Fatal(fmt.Errorf("request %v: %w", q.request, err))
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return resp.StatusCode, answer
}
