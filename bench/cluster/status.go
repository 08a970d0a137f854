package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"adshard/internal/node/httpapi/api"
)

// Slice is what this package reads of a slice from /v1/balance/slices.
type Slice struct {
	ID     uint64 `json:"slice"`
	Lo     Key    `json:"lo"`
	Hi     Key    `json:"hi"`
	Slave  string `json:"slave"`
	Weight uint64 `json:"weight"`
}

// Key is a key of the ring, in hexadecimal.
type Key uint64

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Key) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 16, 64)
	*k = Key(n)
	return err
}

// Status asks the balancer for its status.
func (c *Cluster) Status(ctx context.Context) (*api.BalanceStatus, error) {
	s := new(api.BalanceStatus)
	return s, ask(ctx, http.MethodGet, c.Balancer+"/v1/balance", nil, s)
}

// Slices asks the balancer for all slices and for their view.
func (c *Cluster) Slices(ctx context.Context) (list []Slice, view uint64, err error) {
	var answer struct {
		View   uint64  `json:"view"`
		Slices []Slice `json:"slices"`
	}
	err = ask(ctx, http.MethodGet, c.Balancer+"/v1/balance/slices?limit=1000000", nil, &answer)
	return answer.Slices, answer.View, err
}

// Use makes the balancer switch to another strategy.
func (c *Cluster) Use(ctx context.Context, strategy string) error {
	return ask(ctx, http.MethodPost, c.Balancer+"/v1/balance/strategy", map[string]string{"name": strategy}, new(struct{}))
}

// Pause stops the strategy's iterations until Resume.
func (c *Cluster) Pause(ctx context.Context) error { return c.post(ctx, "/v1/balance/pause") }

// Resume lets the strategy's iterations go on after Pause.
func (c *Cluster) Resume(ctx context.Context) error { return c.post(ctx, "/v1/balance/resume") }

func (c *Cluster) post(ctx context.Context, path string) error {
	return ask(ctx, http.MethodPost, c.Balancer+path, nil, new(struct{}))
}

// askTime bounds one request to an admin port.
const askTime = 10 * time.Second

// ask sends a request and decodes the answer into out.
func ask(ctx context.Context, method, url string, body, out any) error {
	raw, err := fetch(ctx, method, url, body)
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, url, err)
	}
	return nil
}

func fetch(ctx context.Context, method, url string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, in)
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.300s", answer.Status, raw)
	}
	return raw, err
}
