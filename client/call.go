package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Error is a server's refusal, or an answer that no adshard server can have sent.
type Error struct {
	Status  int
	Code    string // kind of error, such as "invalid" or "overloaded"; decide by it
	Message string // what is wrong and what to do
	Field   string // the faulty field; "" if there is none
}

// Error implements error.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("adshard: %s", e.Message)
	}
	return fmt.Sprintf("adshard: %s: %s", e.Code, e.Message)
}

// temporary are the codes of refusals that may pass.
var temporary = []string{"unavailable", "overloaded", "locked", "behind", "cancelled", "no_space"}

// Temporary reports whether the same request may succeed later or at another server.
func (e *Error) Temporary() bool { return slices.Contains(temporary, e.Code) }

// request is a request to be sent.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         any // as JSON; nil if there is none
	// to is where the answer's JSON is decoded.
	to any
}

const (
	maxAnswer  = 64 << 20
	maxRefusal = 64 << 10
)

// do sends a request and decodes its answer.
func (c *Client) do(ctx context.Context, to *servers, r *request) error {
	res, err := c.open(ctx, to, r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(text, r.to)
	}
	if err != nil {
		return fmt.Errorf("client: the answer of %s cannot be read: %w", r.path, err)
	}
	return nil
}

// open sends a request to one server after another until one accepts it, and returns its answer,
// whose body must be closed. If none does, it returns the last error.
func (c *Client) open(ctx context.Context, to *servers, r *request) (*http.Response, error) {
	var text []byte
	if r.body != nil {
		var err error
		if text, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
	}
	order, wait := to.order(), backoff{c.pause}
	if len(order) == 0 {
		return nil, fmt.Errorf("client: %s needs an address in Config.%s", r.path, to.kind)
	}
	var last error
	for try := range c.tries {
		if try > 0 && try%len(order) == 0 {
			if err := wait.sleep(ctx); err != nil {
				return nil, errors.Join(err, last)
			}
		}
		at := order[try%len(order)]
		res, err := c.send(ctx, at, r, text)
		to.mark(at, err == nil || ctx.Err() != nil)
		if err == nil {
			if res.StatusCode < 300 {
				return res, nil
			}
			err = refusal(res)
			var e *Error
			if errors.As(err, &e) && !e.Temporary() {
				return nil, err
			}
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		last = err
	}
	return nil, last
}

// send sends a request to one server, once.
func (c *Client) send(ctx context.Context, to *server, r *request, text []byte) (*http.Response, error) {
	address := to.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return res, nil
}

// refusal returns the error for an answer that is not a success. A proxy in front of a server sends
// no code, and answers 502 or 503 while the server is away.
func refusal(res *http.Response) error {
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	var body struct {
		Error struct{ Code, Message, Field string }
	}
	e := &Error{Status: res.StatusCode}
	if json.Unmarshal(text, &body) == nil && body.Error.Code != "" {
		e.Code, e.Message, e.Field = body.Error.Code, body.Error.Message, body.Error.Field
		return e
	}
	e.Message = fmt.Sprintf("%s answers %s", res.Request.URL.Host, res.Status)
	if res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusServiceUnavailable {
		e.Code = "unavailable"
	}
	return e
}

// backoff has about how long to wait the next time.
type backoff struct{ next time.Duration }

// sleep waits, each time twice as long as the time before.
func (b *backoff) sleep(ctx context.Context) error {
	t := time.NewTimer(b.next/2 + rand.N(b.next))
	defer t.Stop()
	b.next *= 2
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
