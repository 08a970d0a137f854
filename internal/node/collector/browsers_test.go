package collector_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"adshard/internal/node/collector"
)

const (
	listed   = "https://www.example.com"
	stranger = "https://evil.example"
)

// browse sends what a browser sends for a page of `origin`, or without an origin if it is "".
func (r *rig) browse(method, url, origin, body string, header ...string) (*http.Response, string) {
	r.TB.Helper()
	req, err := http.NewRequestWithContext(r.TB.Context(), method, url+"/v1/events", strings.NewReader(body))
	r.Must(err)
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	r.Must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	r.Must(err)
	return res, string(text)
}

// TestBeacons: a text sent by navigator.sendBeacon counts for a page of any site, whichever origins are listed, and is parsed as
// strictly as any other body.
func TestBeacons(t *testing.T) {
	r := newRig(t, 1)
	closed, opened := r.run("collector-0"), r.withOrigins("collector-1", listed)
	for _, url := range []string{closed.URL(), opened.URL()} {
		for _, origin := range []string{listed, stranger, "null", ""} {
			for _, kind := range []string{"text/plain;charset=UTF-8", "text/plain"} {
				res, text := r.browse("POST", url, origin, batch(event("click", r.token(1, 1))), "Content-Type", kind)
				if res.StatusCode != 200 || !strings.Contains(text, `"counted":1`) {
					t.Errorf("%s from %s: %d %s", kind, origin, res.StatusCode, text)
				}
			}
		}
		if res, text := r.browse("POST", url, listed, "hello", "Content-Type", "text/plain"); res.StatusCode != 400 {
			t.Errorf("a text that is no JSON: %d %s", res.StatusCode, text)
		}
		for _, header := range [][]string{{"Content-Encoding", "gzip"}, nil} {
			res, text := r.browse("POST", url, listed, "\x1f\x8b\x08\x00\xff", append(header, "Content-Type", "text/plain")...)
			if res.StatusCode != 415 || !strings.Contains(text, "compressed") || strings.Contains(text, "UTF-8") || res.Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("a compressed body (%v): %d %s", header, res.StatusCode, text)
			}
		}
	}
}

func (r *rig) withOrigins(name string, origins ...string) *collector.Collector {
	return r.runAt(name, time.Now, func(c *collector.Config) { c.EventOrigins = origins })
}

// TestOrigins: pages of listed origins may send JSON after a preflight request and can read every answer. Pages of other origins may
// not, and without a list no page may.
func TestOrigins(t *testing.T) {
	r := newRig(t, 1)
	closed, opened := r.run("collector-0"), r.withOrigins("collector-1", "http://localhost:3000", listed)
	asks := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type"}
	for _, c := range []struct {
		url, method, origin string
		header              []string
		status              int
		allowed             string
	}{
		{opened.URL(), "OPTIONS", listed, asks, 204, listed},
		{opened.URL(), "OPTIONS", "http://localhost:3000", asks, 204, "http://localhost:3000"},
		{opened.URL(), "OPTIONS", stranger, asks, 403, ""},
		{opened.URL(), "OPTIONS", "", asks, 403, ""},
		{opened.URL(), "OPTIONS", "null", asks, 403, ""},
		{opened.URL(), "OPTIONS", listed + ".evil.example", asks, 403, ""},
		{opened.URL(), "OPTIONS", listed, nil, 405, listed},
		{opened.URL(), "POST", listed, []string{"Content-Type", "application/json"}, 200, listed},
		{opened.URL(), "POST", listed, []string{"Content-Type", "text/html"}, 415, listed},
		{opened.URL(), "POST", stranger, []string{"Content-Type", "application/json"}, 200, ""},
		{closed.URL(), "OPTIONS", listed, asks, 405, ""},
		{closed.URL(), "POST", listed, []string{"Content-Type", "application/json"}, 200, ""},
	} {
		body := ""
		if c.method == "POST" {
			body = batch(event("click", r.token(1, 1)))
		}
		res, text := r.browse(c.method, c.url, c.origin, body, c.header...)
		h := res.Header
		if res.StatusCode != c.status || h.Get("Access-Control-Allow-Origin") != c.allowed || (h.Get("Access-Control-Allow-Credentials") == "true") != (c.allowed != "") ||
			(h.Get("Vary") == "Origin") != (c.url == opened.URL()) {
			t.Errorf("%s from %q: %d %s, %v", c.method, c.origin, res.StatusCode, text, h)
		}
		if c.status == 204 && (text != "" || h.Get("Access-Control-Allow-Methods") != "POST" || !strings.EqualFold(h.Get("Access-Control-Allow-Headers"), "content-type")) {
			t.Errorf("%q may not do what it wants: %v", c.origin, h)
		}
	}
}
