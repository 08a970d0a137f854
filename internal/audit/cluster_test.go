package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/master"
	"adshard/internal/node/porttest"
)

// cluster is a balancer, two distributors, slaves and two masters: one asks over
// streams, the other by calls.
type cluster struct {
	t            *testing.T
	client       *http.Client
	admin        string        // base URL of the balancer's admin port
	urls         []string      // of the masters
	timeout      time.Duration // of a query; 0: the masters' own
	asked        atomic.Uint64
	balancer     *part
	distributors []*part
	slaves       []*part
	masters      []*part
	dirs         []string // of the slaves
	slaveAdmin   []string // base URLs
}

// interval is the time between two iterations of the strategy.
const interval = time.Second

func startCluster(t *testing.T, db string, slaves, replicas int) *cluster {
	t.Helper()
	c := &cluster{t: t, timeout: 5 * time.Second, client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	t.Cleanup(c.client.CloseIdleConnections)
	balancer, admin := porttest.Address(t), porttest.Address(t)
	c.admin = "http://" + admin
	c.balancer = newPart(t, "balancer", "balancer", "balancer ready ", map[string]any{
		"db": "sqlite:" + db, "listen": balancer, "admin": admin, "slaves": slaves, "replicas": replicas, "strategy": "original", "order": "advertiser",
		"interval": interval.String(), "distribute": false,
	})
	c.begin(c.balancer)
	for i := range 2 {
		d := newPart(t, "distributor", fmt.Sprint("distributor-", i), "distributor ", map[string]any{
			"name": fmt.Sprint("distributor-", i), "db": "sqlite:" + db, "balancer": balancer, "listen": porttest.Address(t), "admin": "", "order": "advertiser",
		})
		c.distributors = append(c.distributors, d)
		c.begin(d)
	}
	var seeds []string
	for i := range slaves {
		dir, listen, admin := filepath.Join(t.TempDir(), "store"), porttest.Address(t), porttest.Address(t)
		s := newPart(t, "slave", fmt.Sprint("slave-", i), "slave ", map[string]any{
			"name": fmt.Sprint("slave-", i), "dir": dir, "listen": listen, "admin": admin, "balancer": balancer,
		})
		c.slaves, c.dirs, c.slaveAdmin = append(c.slaves, s), append(c.dirs, dir), append(c.slaveAdmin, "http://"+admin)
		seeds = append(seeds, listen)
		c.begin(s)
	}
	for _, transport := range []string{master.TransportStream, master.TransportCalls} {
		web := porttest.Address(t)
		m := newPart(t, "master", "master-"+transport, "ready ", map[string]any{
			"name": "master-" + transport, "http": web, "admin": "", "balancer": balancer, "slaves": seeds, "transport": transport,
		})
		c.masters, c.urls = append(c.masters, m), append(c.urls, "http://"+web)
		c.begin(m)
	}
	return c
}

func (c *cluster) begin(p *part) {
	c.t.Helper()
	if err := p.start(); err != nil {
		c.t.Fatalf("start %s: %v", p.command, err)
	}
}

// wipe empties a slave's disk before it is started again.
func (c *cluster) wipe(slave int) {
	if err := os.RemoveAll(c.dirs[slave]); err != nil {
		c.t.Error(err)
	}
}

// ready reports whether a slave holds all that it should.
func (c *cluster) ready(slave int) bool {
	resp, err := c.client.Get(c.slaveAdmin[slave] + "/readyz")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

var errOverloaded = errors.New("the cluster refuses for overload")

// ask asks the masters in turn.
func (c *cluster) ask(v url.Values) (answer, error) {
	return c.askAt(c.urls[c.asked.Add(1)%uint64(len(c.urls))], v)
}

// askEither asks the masters in turn, and the other one if there is no answer.
func (c *cluster) askEither(v url.Values) (a answer, err error) {
	n := c.asked.Add(1)
	for i := range uint64(2) {
		if a, err = c.askAt(c.urls[(n+i)%2], v); err == nil {
			break
		}
	}
	return a, err
}

// askAt asks the master with this base URL.
func (c *cluster) askAt(base string, v url.Values) (a answer, err error) {
	if c.timeout > 0 {
		v.Set("timeout_ms", fmt.Sprint(c.timeout.Milliseconds()))
	}
	r, err := http.NewRequest(http.MethodGet, base+"/v1/search?"+v.Encode(), nil)
	if err != nil {
		return a, err
	}
	r.Header.Set("X-Request-Id", requestID)
	resp, err := c.client.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	if resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "" {
		return a, errOverloaded
	}
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("%s: %s", resp.Status, body)
	}
	return a, json.Unmarshal(body, &a)
}

// status is what the audit reads of the balancer's.
type status struct {
	View, Epoch uint64
	Strategy    string
	Moved       struct{ Items, Bytes uint64 }
	InFlight    []json.RawMessage `json:"moves_in_flight"`
}

func (c *cluster) status() (s status, err error) {
	resp, err := c.client.Get(c.admin + "/v1/balance")
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	return s, json.NewDecoder(resp.Body).Decode(&s)
}

// whole reports whether each slave is asked, and each shard has so many.
func (c *cluster) whole(replicas int) bool {
	resp, err := c.client.Get(c.admin + "/v1/slaves")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var list api.SlaveList
	if json.NewDecoder(resp.Body).Decode(&list) != nil || len(list.Slaves) != len(c.slaves) {
		return false
	}
	of := make(map[string]int)
	for _, s := range list.Slaves {
		if !s.Alive || !s.Serving || s.Shard == "" || s.WaitsFor != "" {
			return false
		}
		of[s.Shard]++
	}
	for _, n := range of {
		if n != replicas {
			return false
		}
	}
	return true
}

// post tells the balancer something.
func (c *cluster) post(path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	resp, err := c.client.Post(c.admin+path, "application/json", bytes.NewReader(text))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s: %s", path, resp.Status, answer)
	}
	return nil
}
