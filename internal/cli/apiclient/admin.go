package apiclient

import (
	"context"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
	"adshard/internal/node/access"
)

// The default addresses of adshard up.
const (
	DefaultHTTP  = "http://127.0.0.1:8080"
	DefaultAdmin = "http://127.0.0.1:8081"
)

// AdminTimeout is longer than an admin port takes to answer.
const AdminTimeout = 15 * time.Second

// AdminFlags are the flags of all commands that talk to a balancer.
type AdminFlags struct {
	Addr   string
	JSON   bool
	Caller CallerFlags
}

// Add adds the flags to a command.
func (f *AdminFlags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.Addr, "addr", DefaultAdmin, "the admin address of the balancer, or of adshard up")
	c.Flags().BoolVar(&f.JSON, "json", false, "print the server's answer as JSON")
	f.Caller.Add(c.Flags())
}

// Client returns a client of the balancer's admin port.
func (f *AdminFlags) Client() (*Client, error) {
	c, err := New(f.Addr, AdminTimeout, &f.Caller, access.Balancer)
	if err == nil {
		c.Kind = "the admin address of the balancer, by default port 7001, or of adshard up, 8081"
	}
	return c, err
}

// Show requests a path and shows the answer: with --json unchanged, otherwise with `human`.
func Show[T any](ctx context.Context, f *AdminFlags, s cmdline.Streams, path string, query url.Values, human func(*T) error) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	body, err := c.Get(ctx, path, query)
	if err != nil {
		return err
	}
	return Render(c, f, s, body, human)
}

// Send posts v, or an empty body if v is nil, and shows the answer as Show does.
func Send[T any](ctx context.Context, f *AdminFlags, s cmdline.Streams, path string, v any, human func(*T) error) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	body, err := c.Post(ctx, path, v)
	if err != nil {
		return err
	}
	return Render(c, f, s, body, human)
}

// Render shows a body: with --json unchanged, otherwise with `human`.
func Render[T any](c *Client, f *AdminFlags, s cmdline.Streams, body []byte, human func(*T) error) error {
	if f.JSON {
		_, err := s.Out.Write(body)
		return err
	}
	var v T
	if err := c.Decode(body, &v); err != nil {
		return err
	}
	return human(&v)
}
