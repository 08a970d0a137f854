package clustertest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// Client queries masters and calls the balancers' admin ports. Many goroutines may use it.
type Client struct {
	Admins  []string      // base URLs of the balancers' admin ports
	Masters []string      // base URLs
	Timeout time.Duration // of a query, or 0 for the masters' own

	http  *http.Client
	asked atomic.Uint64
	leads atomic.Uint64 // the index in Admins of the balancer that answered last
}

// NewClient returns a client of balancers that waits up to `patience` for an answer. secure is the TLS configuration
// for https URLs, or nil if there are none.
func NewClient(patience time.Duration, secure *tls.Config, admins ...string) *Client {
	return &Client{Admins: admins, http: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64, TLSClientConfig: secure}}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ErrOverloaded is the error of a query that was refused because the cluster is overloaded.
var ErrOverloaded = errors.New("the cluster refuses for overload")

// Ask queries the masters in turn.
func (c *Client) Ask(v url.Values) (Answer, error) {
	return c.AskAt(c.Masters[c.asked.Add(1)%uint64(len(c.Masters))], v)
}

// AskEither queries one of two masters, in turn, and then the other one if the first does not answer.
func (c *Client) AskEither(v url.Values) (a Answer, err error) {
	n := c.asked.Add(1)
	for i := range uint64(2) {
		if a, err = c.AskAt(c.Masters[(n+i)%2], v); err == nil {
			break
		}
	}
	return a, err
}

// AskAt queries the master with this base URL.
func (c *Client) AskAt(base string, v url.Values) (a Answer, err error) {
	if c.Timeout > 0 {
		v.Set("timeout_ms", fmt.Sprint(c.Timeout.Milliseconds()))
	}
	id := requestID
	if v.Has(requestParam) {
		v = maps.Clone(v)
		id = v.Get(requestParam)
		v.Del(requestParam)
	}
	r, err := http.NewRequest(http.MethodGet, base+"/v1/search?"+v.Encode(), nil)
	if err != nil {
		return a, err
	}
	r.Header.Set("X-Request-Id", id)
	resp, err := c.http.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	if resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "" {
		return a, ErrOverloaded
	}
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("%s: %s", resp.Status, body)
	}
	return a, json.Unmarshal(body, &a)
}

// Ready reports whether the process is ready. admin is the base URL of its admin port.
func (c *Client) Ready(admin string) bool {
	resp, err := c.http.Get(admin + "/readyz")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

// Status has the fields that are read from the balancer's status.
type Status struct {
	View, Epoch   uint64
	PublishedView uint64 `json:"published_view"`
	Strategy      string
	Moved         struct{ Items, Bytes uint64 }
	InFlight      []json.RawMessage `json:"moves_in_flight"`
}

// Status asks the balancer for its status.
func (c *Client) Status() (s Status, err error) { return s, c.Get("/v1/balance", &s) }

// Slaves asks the balancer for its slaves.
func (c *Client) Slaves() ([]api.Slave, error) {
	var list api.SlaveList
	err := c.Get("/v1/slaves", &list)
	return list.Slaves, err
}

// OrderMove orders the move of a slice that has items and is not moving to another shard. It reports whether a move
// was begun. A strategy's own moves of thousands of slices may take minutes on a busy machine, since searches have
// precedence. An ordered move does not wait for them.
func (c *Client) OrderMove(ctx context.Context) bool {
	var list api.SliceList
	slaves, err := c.Slaves()
	if err != nil || c.Get("/v1/balance/slices", &list) != nil {
		return false
	}
	for _, slice := range list.Slices {
		for _, to := range slaves {
			may := slice.Items > 0 && slice.To == "" && to.Alive && to.Serving && to.Shard != slice.Slave
			if may && c.Post(ctx, "/v1/balance/move", api.MoveRequest{Slice: slice.Slice, Slave: to.Name}) == nil {
				return true
			}
		}
	}
	return false
}

// Get gets a resource from the leading balancer.
func (c *Client) Get(path string, into any) error {
	body, err := c.admin(context.Background(), http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// Whole reports whether the given number of slaves is serving, and each shard has that many replicas.
func (c *Client) Whole(slaves, replicas int) bool {
	list, err := c.Slaves()
	if err != nil || len(list) != slaves {
		return false
	}
	of := make(map[string]int)
	for _, s := range list {
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

// Post posts a body, or no body if it is nil, to the leading balancer.
func (c *Client) Post(ctx context.Context, path string, body any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	_, err := c.admin(ctx, http.MethodPost, path, text)
	return err
}

// admin sends a request to the balancers, beginning with the one that answered last, until one succeeds. If none
// does, it returns the errors of all: that of a standby would hide why the leader did not answer.
func (c *Client) admin(ctx context.Context, method, path string, text []byte) ([]byte, error) {
	first := c.leads.Load()
	var all error
	for i := range uint64(len(c.Admins)) {
		n := (first + i) % uint64(len(c.Admins))
		body, err := c.adminAt(ctx, c.Admins[n], method, path, text)
		if err == nil {
			c.leads.Store(n)
			return body, nil
		}
		all = errors.Join(all, err)
	}
	return nil, all
}

func (c *Client) adminAt(ctx context.Context, base, method, path string, text []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if text != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s: %s", path, resp.Status, body)
	}
	return body, err
}

// At returns a function that queries the master with this base URL for an answer that includes the change at a clock.
func (c *Client) At(base string, clock uint64) func(url.Values) (Answer, error) {
	least := search.Position{Clock: clock}.String()
	return func(v url.Values) (Answer, error) {
		v.Set("min_clock", least)
		return c.AskAt(base, v)
	}
}
