package cli

import (
	"context"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"adshard/internal/node/access"
)

// adminTimeout is longer than an admin port takes to answer.
const adminTimeout = 15 * time.Second

// adminFlags are those of all commands that talk to a balancer.
type adminFlags struct {
	addr   string
	json   bool
	caller callerFlags
}

func (f *adminFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.addr, "addr", defaultAdmin, "the admin address of the balancer, or of adshard up")
	c.Flags().BoolVar(&f.json, "json", false, "print the server's answer as JSON")
	f.caller.add(c.Flags())
}

// client returns a client of the balancer's admin port.
func (f *adminFlags) client() (*client, error) {
	c, err := newClient(f.addr, adminTimeout, &f.caller, access.Balancer)
	if err == nil {
		c.kind = "the admin address of the balancer, by default port 7001, or of adshard up, 8081"
	}
	return c, err
}

// show requests a path and shows the answer: unchanged with --json, else by human.
func show[T any](ctx context.Context, f *adminFlags, s Streams, path string, query url.Values, human func(*T) error) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	defer c.close()
	body, err := c.get(ctx, path, query)
	if err != nil {
		return err
	}
	return render(c, f, s, body, human)
}

// send posts v, or an empty body if it is nil, and shows the answer likewise.
func send[T any](ctx context.Context, f *adminFlags, s Streams, path string, v any, human func(*T) error) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	defer c.close()
	body, err := c.post(ctx, path, v)
	if err != nil {
		return err
	}
	return render(c, f, s, body, human)
}

// render shows a body: unchanged with --json, else by human.
func render[T any](c *client, f *adminFlags, s Streams, body []byte, human func(*T) error) error {
	if f.json {
		_, err := s.Out.Write(body)
		return err
	}
	var v T
	if err := c.decode(body, &v); err != nil {
		return err
	}
	return human(&v)
}
