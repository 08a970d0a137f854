package up

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/fault"
	"adshard/internal/node/home"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/offline"
	"adshard/search"
)

// patience bounds every wait, also on a busy machine.
const patience = 3 * time.Minute

// adsDB makes a database with groups of one keyword each: "usb cable N" of
// advertiser N.
func adsDB(t testing.TB, groups int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ads.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := writeAds(t.Context(), db, groups); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

func writeAds(ctx context.Context, db backend.Store, groups int) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for n := range groups {
		advertiser, err := tx.Advertiser(ctx, fmt.Sprint("advertiser ", n))
		if err != nil {
			return err
		}
		campaign, err := tx.Campaign(ctx, advertiser, "c", backend.CampaignPatch{Languages: backend.To(backend.LanguagesOf("en"))})
		if err != nil {
			return err
		}
		group, err := tx.Group(ctx, campaign, "g", backend.GroupPatch{Bid: backend.To(uint64(1_000_000 + n))})
		if err != nil {
			return err
		}
		text := "usb cable"
		if err := tx.Keyword(ctx, group, backend.KeywordPatch{Text: text, Words: text, Type: search.Broad}); err != nil {
			return err
		}
		if err := tx.Ad(ctx, group, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"}); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

// cluster is a running RunUp.
type cluster struct {
	url, admin string
	lines      []string
	log        strings.Builder // complete after stop
	stop       func() error
}

// startUp runs a cluster until the test's end and waits until it is ready.
func startUp(t testing.TB, cfg Config) *cluster {
	t.Helper()
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	c := new(cluster)
	go func() {
		err := Run(ctx, cfg, w, slog.New(slog.NewTextHandler(&c.log, nil)))
		_ = w.CloseWithError(io.EOF)
		done <- err
	}()
	stopped := false
	c.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
		goleak.VerifyNone(t, before)
	})
	text := bufio.NewScanner(r)
	for text.Scan() {
		line := text.Text()
		c.lines = append(c.lines, line)
		if a, ok := strings.CutPrefix(line, "admin "); ok {
			c.admin = a
		}
		if u, ok := strings.CutPrefix(line, "ready "); ok {
			c.url = u
			go io.Copy(io.Discard, r)
			return c
		}
	}
	t.Fatalf("the cluster ended: %v; it said %q", <-done, c.lines)
	return nil
}

type searchAnswer struct {
	Ads []struct {
		Keyword uint64 `json:"keyword_id"`
		Price   uint64 `json:"price_micros"`
	} `json:"ads"`
	Matched  uint64 `json:"matched"`
	Coverage struct {
		Shards, Answered int
		Complete         bool
		Missing          []string
	} `json:"coverage"`
}

func (c *cluster) search(t testing.TB, q string) (a searchAnswer) {
	t.Helper()
	body := get(t, c.url+"/v1/search?counts=exact&timeout_ms=5000&q="+url.QueryEscape(q), http.StatusOK)
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// serves waits until this keyword has the first place.
func (c *cluster) serves(t *testing.T, best uint64) {
	t.Helper()
	var a searchAnswer
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if a = c.search(t, "usb cable"); len(a.Ads) > 0 && a.Ads[0].Keyword == best {
			return
		}
	}
	t.Fatalf("keyword %d has not got the first place: %+v", best, a)
}

func get(t testing.TB, url string, status int) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Fatalf("GET %s: %s, %v: %s", url, resp.Status, err, body)
	}
	return string(body)
}

func upConfig(t testing.TB, db string) Config {
	cfg := DefaultConfig()
	cfg.DB, cfg.Data, cfg.HTTP, cfg.Admin = db, filepath.Join(t.TempDir(), "data"), loopback, loopback
	cfg.Memory, cfg.Timeout, cfg.Slaves = 512<<20, httpapi.MaxTimeout, 3
	return cfg
}

func TestUpAnswersFollowsAndComesBack(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 20))
	c := startUp(t, cfg)
	for i := range 3 {
		if !strings.HasPrefix(c.lines[i], fmt.Sprintf("slave %d listening 127.0.0.1:", i)) {
			t.Fatalf("lines %q", c.lines)
		}
	}
	a := c.search(t, "usb cable")
	if len(a.Ads) != 4 || a.Matched != 20 || !a.Coverage.Complete || a.Coverage.Shards != 3 || a.Ads[0].Keyword != 20 {
		t.Fatalf("%+v", a)
	}

	// A budget marked as exhausted takes effect in answers, as does a share.
	for _, m := range []struct {
		body string
		best uint64
	}{
		{`{"exhausted":false,"share_ppm":0}`, 19}, {`{"exhausted":false,"share_ppm":1000000}`, 20}, {`{"exhausted":true}`, 19},
	} {
		budget(t, c, 20, m.body, http.StatusOK)
		c.serves(t, m.best)
	}
	budget(t, c, 999, `{"exhausted":true}`, http.StatusNotFound)
	var list struct{ Slaves []struct{ Name string } }
	if err := json.Unmarshal([]byte(get(t, c.admin+"/v1/slaves", http.StatusOK)), &list); err != nil || len(list.Slaves) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	get(t, c.admin+"/readyz", http.StatusOK)
	metrics := get(t, c.admin+"/metrics", http.StatusOK)
	for _, want := range []string{`adshard_stage_seconds_count{node="master-0",stage="expand"}`, `stage="fan-out"`, `stage="merge"`,
		`adshard_stage_seconds_count{node="slave-1",stage="slave search"}`, `outcome="complete"`, "adshard_balancer_items"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}

	// The same directory again: what was applied is still there.
	c = startUp(t, cfg)
	if a := c.search(t, "usb cable"); a.Ads[0].Keyword != 19 || !a.Coverage.Complete {
		t.Fatalf("%+v", a)
	}
}

// withoutOrder makes a directory of stores what versions wrote that knew one order.
func withoutOrder(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "cluster.yaml")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	earlier := regexp.MustCompile(`(?m)^order: advertiser\n`).ReplaceAll(b, nil)
	if len(earlier) == len(b) {
		t.Fatalf("no order in %s", b)
	}
	if err := os.WriteFile(file, earlier, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUpOnStoresBuiltOffline(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 20))
	build := offline.DefaultConfig()
	build.DB, build.Out = cfg.DB, filepath.Join(t.TempDir(), "barrels")
	build.Order = "advertiser" // not the default: the cluster has its stores' order
	if _, err := offline.Build(t.Context(), build, nil); err != nil {
		t.Fatal(err)
	}
	cfg.Barrels = build.Out
	cfg.Slaves = 2
	if err := Run(t.Context(), cfg, io.Discard, slog.New(slog.DiscardHandler)); !fault.Is(err, fault.Conflict) {
		t.Fatalf("2 slaves on the stores of 3: %v", err)
	}
	cfg.Slaves = 4
	if err := Run(t.Context(), cfg, io.Discard, slog.New(slog.DiscardHandler)); !fault.Is(err, fault.NotFound) {
		t.Fatalf("4 slaves on the stores of 3: %v", err)
	}
	cfg.Slaves = 3
	other := cfg
	other.DB = upConfig(t, adsDB(t, 20)).DB
	if err := Run(t.Context(), other, io.Discard, slog.New(slog.DiscardHandler)); !fault.Is(err, fault.Conflict) {
		t.Fatalf("stores of another database: %v", err)
	}
	ordered := cfg
	ordered.Order = "hash"
	if err := Run(t.Context(), ordered, io.Discard, slog.New(slog.DiscardHandler)); !fault.Is(err, fault.Conflict) {
		t.Fatalf("stores in another order: %v", err)
	}
	half := cfg
	half.Barrels = t.TempDir()
	for i := range half.Slaves {
		if err := os.Mkdir(filepath.Join(half.Barrels, home.StoreName(i)), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := Run(t.Context(), half, io.Discard, slog.New(slog.DiscardHandler)); !fault.Is(err, fault.NotFound) {
		t.Fatalf("a build that did not end: %v", err)
	}
	withoutOrder(t, cfg.Barrels)
	for range 2 { // the second time with a model and further changes
		c := startUp(t, cfg)
		a := c.search(t, "usb cable")
		if len(a.Ads) != 4 || a.Matched != 20 || !a.Coverage.Complete || a.Coverage.Shards != 3 {
			t.Fatalf("%+v", a)
		}
		budget(t, c, 20, `{"exhausted":true}`, http.StatusOK)
		c.serves(t, 19)
		if err := c.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func budget(t *testing.T, c *cluster, campaign int, mark string, status int) {
	t.Helper()
	resp, err := http.Post(fmt.Sprintf("%s/v1/campaigns/%d/budget", c.admin, campaign), "application/json",
		strings.NewReader(mark))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != status {
		t.Fatalf("%s: %s", resp.Status, body)
	}
}

func TestUpSaysWhatIsWrong(t *testing.T) {
	db := adsDB(t, 2)
	taken, err := net.Listen("tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used := upConfig(t, db)
	if err := startUp(t, used).stop(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func(*Config)
		kind  fault.Kind
		text  string
	}{
		"no database":        {func(c *Config) { c.DB = "sqlite:" + file + ".none" }, fault.NotFound, "import"},
		"other database":     {func(c *Config) { c.DB = "oracle:x" }, fault.Invalid, "sqlite:PATH"},
		"http port in use":   {func(c *Config) { c.HTTP = taken.Addr().String() }, fault.Conflict, "another process listens"},
		"admin port in use":  {func(c *Config) { c.Admin = taken.Addr().String() }, fault.Conflict, "admin"},
		"data is a file":     {func(c *Config) { c.Data = file }, fault.Invalid, "choose another one"},
		"no such lexicon":    {func(c *Config) { c.Lexicon = file + ".lex" }, fault.NotFound, "lexicon"},
		"other slaves":       {func(c *Config) { c.Data, c.Slaves = used.Data, 2 }, fault.Conflict, "3 slaves"},
		"too few stores":     {func(c *Config) { c.Data, c.Slaves, c.Replicas = used.Data, 0, 4 }, fault.Invalid, "replicas"},
		"of another db":      {func(c *Config) { c.Data, c.DB = used.Data, adsDB(t, 1) }, fault.Conflict, "--discard-data-of"},
		"no barrels":         {func(c *Config) { c.Barrels = t.TempDir() }, fault.NotFound, "barrels build"},
		"strategy not known": {func(c *Config) { c.Strategy = "x" }, fault.Invalid, "strategy"},
		"bad configuration":  {func(c *Config) { c.Slaves, c.Profile = -1, "x" }, fault.Invalid, "profile"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := upConfig(t, db)
			c.spoil(&cfg)
			err := Run(t.Context(), cfg, io.Discard, slog.New(slog.DiscardHandler))
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("%v (%s), want %s with %q", err, fault.KindOf(err), c.kind, c.text)
			}
		})
	}
}
