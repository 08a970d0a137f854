package apiclient

import (
	"context"
	"net"
	"net/url"

	"adshard/fault"
	"adshard/internal/node/certs"
	"adshard/internal/node/httpapi/api"
)

// FindMaster asks the admin port of a balancer where a master accepts queries. It accepts a loopback address only
// from an admin port on loopback, since from another machine the address would name a different process here. A token
// is sent only to the port that the user named, never to one that was found; queries need none.
func FindMaster(ctx context.Context, c *Client) (string, error) {
	body, err := c.Get(ctx, "/v1/balance", nil)
	if err != nil {
		return "", err
	}
	var status api.BalanceStatus
	if err := c.Decode(body, &status); err != nil {
		return "", err
	}
	for _, m := range status.Masters {
		if u, err := url.Parse(m.URL); err == nil && u.Host != "" && (onLoopback(c.Base) || !onLoopback(u)) {
			return m.URL, nil
		}
	}
	return "", fault.Newf(fault.Unavailable, "", "%s is an admin port, and its balancer knows no master that can be reached from here; give a master's address with --addr", c.Base)
}

func onLoopback(u *url.URL) bool { return certs.Local(net.JoinHostPort(u.Hostname(), "0")) }
