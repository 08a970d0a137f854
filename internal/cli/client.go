package cli

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
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/httpapi/api"
)

// maxAnswer bounds the size of an answer.
const maxAnswer = 64 << 20

// client sends requests to one server.
type client struct {
	base *url.URL
	http *http.Client
	// kind describes the expected address, for errors.
	kind  string
	token string // of an admin port; "": none
}

// newClient parses an address: URL, HOST:PORT or :PORT. Who calls is in f.
func newClient(addr string, timeout time.Duration, f *callerFlags, roles ...access.Role) (*client, error) {
	given := addr
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	base, err := url.Parse(addr)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, wrongUse("--addr %s: write a URL or HOST:PORT, for example http://127.0.0.1:8080", given)
	}
	if (f.cert == "") != (f.key == "") {
		return nil, wrongUse("--cert and --key are given together: your certificate and its key")
	}
	// A client of its own: closing it closes all its connections.
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if transport.TLSClientConfig, err = certs.ForClient(f.ca, f.cert, f.key, roles...); err != nil {
		return nil, &usageError{err}
	}
	token, err := f.token()
	if err != nil {
		return nil, err
	}
	if token != "" && base.Scheme == "http" && !onLoopback(base) {
		return nil, wrongUse("a token is not sent to %s without TLS, where others can read it; write https://", base)
	}
	return &client{base: base, http: &http.Client{Timeout: timeout, Transport: transport}, kind: "the address of adshard", token: token}, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// get returns the body of a 200.
func (c *client) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	u := c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	return c.do(ctx, http.MethodGet, u, nil, nil)
}

// post sends v as JSON, or an empty body if v is nil, and returns the body of a 200.
func (c *client) post(ctx context.Context, path string, v any) ([]byte, error) {
	var body []byte
	if v != nil {
		var err error
		if body, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	return c.do(ctx, http.MethodPost, c.base.JoinPath(path), nil, body)
}

// do sends a request and returns the body of a 200 or 202.
func (c *client) do(ctx context.Context, method string, u *url.URL, header http.Header, send []byte) ([]byte, error) {
	res, err := c.open(ctx, method, u, header, send)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, c.unreachable(err)
	}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusAccepted {
		return nil, c.refused(res.StatusCode, body)
	}
	return body, nil
}

// open sends a request and returns what comes, whose body is to be closed.
func (c *client) open(ctx context.Context, method string, u *url.URL, header http.Header, send []byte) (*http.Response, error) {
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
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	return res, nil
}

// decode reads a body of get into v.
func (c *client) decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fault.Newf(fault.Internal, "", "the answer of %s is not one of adshard: is the address right? (%w)", c.base, err)
	}
	return nil
}

func (c *client) unreachable(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the long URL
	}
	return fault.Newf(fault.Unavailable, "", "cannot reach %s: %w; %s", c.base, err, c.hint(err))
}

// hint says what to look at when the server cannot be reached.
func (c *client) hint(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		remote    *net.OpError
	)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("is the program running, and is this %s (--addr)?", c.kind)
	case errors.As(err, &authority), errors.As(err, &host):
		return "is --ca the file of this cluster's CA?"
	case errors.As(err, &remote) && remote.Op == "remote error": // an alert of TLS
		return "the program does not take the certificate of --cert: is it of this cluster's CA, and still valid?"
	}
	return "is the address right (--addr)?"
}

// forbiddenError is a server's refusal of the request at this address.
type forbiddenError struct{ error }

// refused makes an error of an answer other than 200. A 400 is a usage error.
func (c *client) refused(status int, body []byte) error {
	var e api.ErrorAnswer
	if json.Unmarshal(body, &e) != nil || e.Error.Message == "" {
		hint := ""
		if c.base.Scheme == "http" {
			hint = " If it has TLS, the address is https://…, with --ca."
		}
		return fault.Newf(fault.Unavailable, "", "%s answers %d %s; is it %s?%s", c.base, status, http.StatusText(status), c.kind, hint)
	}
	err := fmt.Errorf("%s: %s", e.Error.Code, printable(e.Error.Message))
	switch status {
	case http.StatusBadRequest, http.StatusMisdirectedRequest:
		return &usageError{err}
	case http.StatusUnauthorized:
		return &usageError{fmt.Errorf("%w; give --token-file, or --cert and --key", err)}
	case http.StatusForbidden:
		return &usageError{&forbiddenError{err}}
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "", err)
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fault.New(fault.Unavailable, "", err)
	}
	return err
}
