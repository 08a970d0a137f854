package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/internal/node/offline"
	"adshard/internal/node/up"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// cluster is a running `adshard up`.
type cluster struct {
	http, admin string // base URLs
	calls       pb.MasterClient
	db          string // path of its database
	client      *http.Client
}

// startCluster runs a cluster on a database until the test ends. If built is true it runs on stores built beforehand.
// The changes are applied to its configuration.
func startCluster(t *testing.T, db string, slaves int, built bool, profile string, change ...func(*up.Config)) *cluster {
	t.Helper()
	cfg := up.DefaultConfig()
	db = copyFile(t, db)
	cfg.DB, cfg.Slaves, cfg.Profile = "sqlite:"+db, slaves, profile
	cfg.HTTP, cfg.Admin, cfg.GRPC = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	cfg.Data = filepath.Join(t.TempDir(), "data")
	cfg.Transport = up.TransportStream
	for _, f := range change {
		f(&cfg)
	}
	if built { // and its slaves are called directly, so that both ways are tested
		cfg.Transport = up.TransportDirect
		cfg.Barrels = filepath.Join(t.TempDir(), "barrels")
		build := offline.DefaultConfig()
		build.DB, build.Slaves, build.Out, build.Languages = cfg.DB, slaves, cfg.Barrels, cfg.Languages
		if _, err := offline.Build(t.Context(), build, nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := up.Run(ctx, cfg, w, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
		w.CloseWithError(err)
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("up ended with %v", err)
		}
	})
	c := &cluster{db: db, client: &http.Client{Timeout: time.Minute}}
	t.Cleanup(c.client.CloseIdleConnections)
	lines := bufio.NewScanner(r)
	for c.http == "" && lines.Scan() {
		if a, ok := strings.CutPrefix(lines.Text(), "admin "); ok {
			c.admin = a
		}
		if a, ok := strings.CutPrefix(lines.Text(), "grpc "); ok {
			conn, err := wire.Dial(a)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			c.calls = pb.NewMasterClient(conn)
		}
		if a, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			c.http = a
		}
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if c.http == "" {
		t.Fatalf("the cluster did not come up: %v", lines.Err())
	}
	return c
}

// search sends a query over HTTP, with a deadline long enough for a busy machine.
func (c *cluster) search(t *testing.T, v url.Values) answer {
	t.Helper()
	v.Set("timeout_ms", "5000")
	resp, err := c.client.Get(c.http + "/v1/search?" + v.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", v.Encode(), resp.Status, err, body)
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%s: %v in %s", v.Encode(), err, body)
	}
	return a
}

// call sends the query of a line of the golden set over gRPC, with exact counts.
func (c *cluster) call(t *testing.T, w want) (a answer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m, err := c.calls.Search(ctx, &pb.AdsRequest{Q: w.Query, Device: w.Device, Variants: w.Variants, Slots: int32(w.Slots), TimeoutMs: 5000, ExactCounts: true})
	if err != nil {
		t.Fatalf("%q: %v", w.Query, err)
	}
	a.Matched, a.Candidates = m.Matched, m.Candidates
	a.Coverage.Complete, a.Coverage.PricesExact = m.Coverage.Complete, m.Coverage.PricesExact
	for _, p := range m.Ads {
		a.Ads = append(a.Ads, ad{Position: int(p.Position), wantAd: wantAd{
			Advertiser: p.Advertiser, Campaign: p.Campaign, Group: p.Group, Keyword: p.Keyword,
			MatchType: p.MatchType, Variant: p.Variant, Price: p.PriceMicros,
		}})
	}
	return a
}
