package apiclient

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"adshard/fault"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/httpapi/api"
)

// MaxAnswer is the most bytes of an answer that are read.
const MaxAnswer = 64 << 20

// Client sends requests to one server.
type Client struct {
	Base *url.URL
	HTTP *http.Client
	// Kind describes the expected address, for errors.
	Kind  string
	token string // of an admin port, or "" if there is none
}

// New parses an address: URL, HOST:PORT or :PORT. f identifies the caller.
func New(addr string, timeout time.Duration, f *CallerFlags, roles ...access.Role) (*Client, error) {
	given := addr
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	base, err := url.Parse(addr)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, cmdline.WrongUse("--addr %s: write a URL or HOST:PORT, for example http://127.0.0.1:8080", given)
	}
	if (f.cert == "") != (f.key == "") {
		return nil, cmdline.WrongUse("--cert and --key are given together: your certificate and its key")
	}
	// Its own transport, so that closing the client closes all its connections.
	// Connecting fails before the whole time is over, so that an unreachable host is told from a program that does not answer.
	dialer := &net.Dialer{Timeout: timeout * 3 / 4}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext}
	if transport.TLSClientConfig, err = certs.ForClient(f.ca, f.cert, f.key, roles...); err != nil {
		return nil, cmdline.Usage(err)
	}
	token, err := f.token()
	if err != nil {
		return nil, err
	}
	if token != "" && base.Scheme == "http" && !onLoopback(base) {
		return nil, cmdline.WrongUse("a token is not sent to %s without TLS, where others can read it; write https://", base)
	}
	return &Client{Base: base, HTTP: &http.Client{Timeout: timeout, Transport: transport}, Kind: "the address of adshard", token: token}, nil
}

// Close closes the connections.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Get returns the body of an answer with status 200.
func (c *Client) Get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	u := c.Base.JoinPath(path)
	u.RawQuery = query.Encode()
	return c.Do(ctx, http.MethodGet, u, nil, nil)
}

// Post sends v as JSON, or an empty body if v is nil, and returns the body of an answer with status 200.
func (c *Client) Post(ctx context.Context, path string, v any) ([]byte, error) {
	var body []byte
	if v != nil {
		var err error
		if body, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	return c.Do(ctx, http.MethodPost, c.Base.JoinPath(path), nil, body)
}

// Do sends a request and returns the body of an answer with status 200 or 202.
func (c *Client) Do(ctx context.Context, method string, u *url.URL, header http.Header, send []byte) ([]byte, error) {
	res, err := c.Open(ctx, method, u, header, send)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, MaxAnswer))
	if err != nil {
		return nil, c.Unreachable(err)
	}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusAccepted {
		return nil, c.Refused(res.StatusCode, body)
	}
	return body, nil
}

// Open sends a request and returns the response. The caller must close its body.
func (c *Client) Open(ctx context.Context, method string, u *url.URL, header http.Header, send []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(send))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	if len(send) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return nil, c.Unreachable(err)
	}
	return res, nil
}

// Decode decodes the body of an answer into v.
func (c *Client) Decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fault.Newf(fault.Internal, "", "the answer of %s is not one of adshard: is the address right? (%w)", c.Base, err)
	}
	return nil
}

// Unreachable returns the error for a request that got no answer, with advice on what to check.
func (c *Client) Unreachable(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the long URL
	}
	return fault.Newf(fault.Unavailable, "", "cannot reach %s: %w; %s", c.Base, err, c.hint(err))
}

// CutOff reports whether a call failed because no connection to the host could be made: it is down, or the network is.
func CutOff(err error) bool {
	var remote *net.OpError
	return errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH) ||
		errors.As(err, &remote) && remote.Op == "dial" && remote.Timeout()
}

// hint returns advice on what to check when the server cannot be reached.
func (c *Client) hint(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		remote    *net.OpError
		name      *net.DNSError
	)
	switch {
	case errors.As(err, &name):
		return "does DNS know this name, and is it right (--addr)?"
	case CutOff(err):
		return "is that host up, and the network, and is the address right (--addr)?"
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("is the program running, and is this %s (--addr)?", c.Kind)
	case errors.As(err, &authority), errors.As(err, &host):
		return "is --ca the file of this cluster's CA?"
	case errors.As(err, &remote) && remote.Op == "remote error": // an alert of TLS
		return "the program does not take the certificate of --cert: is it of this cluster's CA, and still valid?"
	}
	return "is the address right (--addr)?"
}

// ForbiddenError says that a server refuses the request at this address.
type ForbiddenError struct{ error }

// Refused returns the error for an answer with a status other than 200. A 400 is a usage error.
func (c *Client) Refused(status int, body []byte) error {
	var e api.ErrorAnswer
	if json.Unmarshal(body, &e) != nil || e.Error.Message == "" {
		hint := ""
		if c.Base.Scheme == "http" {
			hint = " If it has TLS, the address is https://…, with --ca."
		}
		return fault.Newf(fault.Unavailable, "", "%s answers %d %s; is it %s?%s", c.Base, status, http.StatusText(status), c.Kind, hint)
	}
	err := fmt.Errorf("%s: %s", e.Error.Code, terminal.Printable(e.Error.Message))
	switch status {
	case http.StatusBadRequest, http.StatusMisdirectedRequest:
		return cmdline.Usage(err)
	case http.StatusUnauthorized:
		return cmdline.Usage(fmt.Errorf("%w; give --token-file, or --cert and --key", err))
	case http.StatusForbidden:
		return cmdline.Usage(&ForbiddenError{err})
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "", err)
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fault.New(fault.Unavailable, "", err)
	}
	return err
}

// Fetch gets a path and decodes the JSON answer.
func (c *Client) Fetch(ctx context.Context, path string, query url.Values, into any) error {
	body, err := c.Get(ctx, path, query)
	if err != nil {
		return err
	}
	return c.Decode(body, into)
}
