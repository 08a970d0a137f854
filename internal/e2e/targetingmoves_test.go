package e2e

import (
	"bytes"
	"context"
	"flag"
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

var (
	goldenAll  = flag.Bool("golden.all", false, "ask clusters of all placements for all requests of the golden set of targeting, not for a drawn part")
	goldenSeed = flag.Uint64("golden.seed", 0, "the seed of the part that is drawn; 0: another one each time")
)

// When a part is drawn, goldenClusters is the number of clusters and goldenPart the number of requests for each.
const goldenPart, goldenClusters = 150, 4

// TestTargetingGoldenMoving sends the golden set to clusters of 1, 3 and 7 slaves with one replica, and of 2, 3 and 7 with two, whose
// slaves are called directly or over streams. Meanwhile strategies move slices, and campaigns, block lists and the table of places change
// in ways that do not affect the answers. Without -golden.all it draws some of the clusters and a part of the set for each.
func TestTargetingGoldenMoving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	if err := importInto(t, path, goldenTargeting(t).Files).Close(); err != nil {
		t.Fatal(err)
	}
	all, clusters, part := goldenRequests(t), movingPlacements(), goldenPart
	if *goldenAll {
		part = len(all)
	} else {
		clusters = drawGolden(t, all, clusters)
	}
	for i, p := range clusters {
		t.Run(p.String(), func(t *testing.T) {
			m := newMoving(t, path, p)
			begun := time.Now()
			m.during(func() {
				for n, end := 0, time.Now().Add(time.Minute); n < part || m.moves && m.moved() == 0 && time.Now().Before(end); n++ {
					if m.ask(n, all[(i*part+n)%len(all)]); n >= part {
						time.Sleep(50 * time.Millisecond) // wait for the first move
					}
				}
			})
			t.Logf("%d requests in %v", part, time.Since(begun).Round(time.Millisecond))
		})
	}
}

// movingPlacements returns all placements; two replicas of a shard cannot be on one slave.
func movingPlacements() (list []placement) {
	for _, streams := range []bool{false, true} {
		list = append(list, placement{1, 1, streams}, placement{3, 1, streams}, placement{7, 1, streams})
		list = append(list, placement{2, 2, streams}, placement{3, 2, streams}, placement{7, 2, streams})
	}
	return list
}

// drawGolden shuffles the requests and returns some of the placements, by a seed that it logs.
func drawGolden(t *testing.T, all []goldenRequest, list []placement) []placement {
	t.Helper()
	seed := *goldenSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("drawn with -golden.seed=%d", seed)
	dice := rand.New(rand.NewPCG(40, seed))
	dice.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	dice.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	if testing.Short() {
		return list[:1]
	}
	return list[:goldenClusters]
}

// moving is a cluster in which slices move and data changes.
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

// during makes strategies switch and data change while f runs.
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

// moved returns how many groups have moved.
func (m *moving) moved() uint64 {
	m.t.Helper()
	status, err := m.admin.Status()
	if err != nil {
		m.t.Error(err)
	}
	return status.Moved.Items
}

// strategies switches to the strategy that moves most, orders moves until a slice has moved, and then switches from
// one strategy to the next.
func (m *moving) strategies(ctx context.Context) {
	names := append([]string{"random"}, strategy.Names()...)
	for i := 0; m.moves && ctx.Err() == nil; i++ {
		if err := m.admin.Post(ctx, "/v1/balance/strategy", map[string]string{"name": names[i%len(names)]}); err != nil && ctx.Err() == nil {
			m.t.Errorf("switch the strategy: %v", err)
		}
		for first := true; first || i == 0 && m.moved() == 0 && ctx.Err() == nil; first = false {
			if i == 0 {
				m.admin.OrderMove(ctx)
			}
			select {
			case <-ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}
}

// ask repeats a request until the answer is complete, and compares it.
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
