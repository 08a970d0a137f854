package openloop

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/bench/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const whole = `{"ads":[{"ad_id":1},{"ad_id":2}],"coverage":{"complete":true}}`

func config(addr string) Config {
	return Config{
		Addr: addr, Targets: []Target{{Path: "/v1/search?q=a"}, {Path: "/v1/search?q=b"}}, Duration: 200 * time.Millisecond,
		Connections: 8, Timeout: 2 * time.Second, Seed: 1,
	}
}

func run(t *testing.T, c Config) *Outcome {
	t.Helper()
	o, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestOutcomes counts each kind of answer, with and without chunks.
func TestOutcomes(t *testing.T) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) % 7 {
		case 1:
			fmt.Fprint(w, whole)
		case 2:
			fmt.Fprint(w, whole[:20])
			w.(http.Flusher).Flush() // what follows becomes a separate chunk
			fmt.Fprint(w, whole[20:])
		case 3:
			fmt.Fprint(w, strings.Replace(whole, "true", "false", 1))
		case 4:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 5:
			w.WriteHeader(http.StatusBadRequest)
		case 6:
			w.Header().Set("Connection", "close")
			fmt.Fprint(w, whole)
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer s.Close()
	c := config(s.URL)
	c.Requests, c.Duration = 70, 10*time.Second
	for _, rate := range []float64{0, 2000} {
		c.Rate = rate
		o := run(t, c)
		if o.Complete != 30 || o.Incomplete != 10 || o.Overloaded != 10 || o.Refused != 10 || o.Failed != 10 || o.Unsent != 0 {
			t.Errorf("rate %v: %+v", rate, o)
		}
		if o.Ads != 80 || o.WithAds != 40 || o.Latency.Count() != 40 || o.FirstError == nil {
			t.Errorf("rate %v: %d ads in %d answers, %d latencies, %v", rate, o.Ads, o.WithAds, o.Latency.Count(), o.FirstError)
		}
		var r measure.Report
		o.Figures(&r)
		if f, ok := r.Find("complete"); !ok || f.Value != 30 {
			t.Errorf("the report says %v complete", f.Value)
		}
	}
}

// TestStallShows: one stall delays all requests that are due meanwhile, even those that
// could not be sent because no connection was free.
func TestStallShows(t *testing.T) {
	const stall = 300 * time.Millisecond
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 10 {
			time.Sleep(stall)
		}
		fmt.Fprint(w, whole)
	}))
	defer s.Close()
	c := config(s.URL)
	c.Rate, c.Duration, c.Connections = 200, time.Second, 1
	o := run(t, c)
	// Some 60 requests are due during the stall; half of them wait for at least half of it.
	late := 0
	for _, q := range []float64{0.85, 0.9, 0.95, 0.99} {
		if o.Latency.Quantile(q) > stall/4 {
			late++
		}
	}
	if late < 4 || o.Latency.Quantile(1) < stall {
		t.Errorf("a stall of %v shows as p85 %v, p99 %v, max %v", stall,
			o.Latency.Quantile(0.85), o.Latency.Quantile(0.99), o.Latency.Quantile(1))
	}
	if o.Lag.Quantile(0.99) < stall/2 {
		t.Errorf("waiting for the connection shows as %v", o.Lag.Quantile(0.99))
	}
}

// TestLate: a run at a rate measures how late this process reads, and nothing else does.
func TestLate(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, whole) }))
	defer s.Close()
	c := config(s.URL)
	if o := run(t, c); o.Late.Count() != 0 {
		t.Errorf("%d probes without a rate", o.Late.Count())
	}
	c.Rate = 100
	if o := run(t, c); o.Late.Count() == 0 || o.Late.Quantile(1) <= 0 {
		t.Errorf("%d probes, the slowest took %v", o.Late.Count(), o.Late.Quantile(1))
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, whole) })}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	c := config("unix:" + path)
	c.Requests = 5
	if o := run(t, c); o.Complete != 5 {
		t.Errorf("%+v", o)
	}
	_ = s.Close()
	<-done
}

// TestNobodyThere: refused connections are failures, not errors of the run.
func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c := config(addr)
	c.Requests = 3
	if o := run(t, c); o.Failed != 3 || o.FirstError == nil {
		t.Errorf("%+v", o)
	}
}

// TestNoHTTP: whatever answers, the run ends and counts failures.
func TestNoHTTP(t *testing.T) {
	for name, answer := range map[string]string{
		"other words": "hello\n", "no status": "HTTP/1.1 abc\r\n\r\n", "no length": "HTTP/1.1 200 OK\r\n\r\n",
		"negative length": "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"huge length":     "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
		"bad chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"negative chunk":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
		"endless header":  "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<16),
		"cut":             "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					buffer := make([]byte, 1024)
					_, _ = conn.Read(buffer)
					_, _ = conn.Write([]byte(answer))
					conn.Close()
				}
			}()
			c := config(l.Addr().String())
			c.Requests = 2
			if o := run(t, c); o.Failed != 2 {
				t.Errorf("%+v", o)
			}
			l.Close()
			<-done
		})
	}
}

// TestScheme: TLS is used for https addresses, in upper or lower case.
func TestScheme(t *testing.T) {
	for addr, secure := range map[string]bool{"https://localhost:1": true, "HTTPS://localhost:1": true, "http://localhost:1": false, "localhost:1": false, "unix:https": false} {
		c := Config{Addr: addr}
		if _, _, err := c.dial(); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
		if got := c.secure("localhost:1") != nil; got != secure {
			t.Errorf("%s: TLS %v", addr, got)
		}
	}
}

func TestValidate(t *testing.T) {
	good := config("http://localhost:8080")
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Config){
		"other machine": func(c *Config) { c.Addr = "http://192.0.2.1:8080" },
		"a name":        func(c *Config) { c.Addr = "example.com:80" },
		"no web":        func(c *Config) { c.Addr = "ftp://127.0.0.1" },
		"a path":        func(c *Config) { c.Addr = "http://127.0.0.1/x" },
		"nothing":       func(c *Config) { c.Targets = nil },
		"rate":          func(c *Config) { c.Rate = 1e9 },
		"time":          func(c *Config) { c.Duration = 3 * time.Hour },
		"count":         func(c *Config) { c.Rate, c.Duration = MaxRate, 5*time.Minute },
		"connections":   func(c *Config) { c.Connections = 0 },
		"timeout":       func(c *Config) { c.Timeout = 0 },
	} {
		c := good
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%s was taken", name)
		}
	}
	far := good
	far.Addr, far.AllowRemote = "http://192.0.2.1:8080", true
	if err := far.Validate(); err != nil {
		t.Error(err)
	}
}

// TestRequests: each way of asking ends after the given number of counted requests.
func TestRequests(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, whole) }))
	defer s.Close()
	for _, c := range []struct {
		rate   float64
		closed int
	}{{}, {closed: 4}, {rate: 500}} {
		cfg := config(s.URL)
		cfg.Rate, cfg.Closed, cfg.Requests, cfg.Warmup, cfg.Duration = c.rate, c.closed, 20, 10*time.Millisecond, time.Minute
		if o := run(t, cfg); o.Sent() != 20 {
			t.Errorf("rate %v, %d under way: %d of 20 requests", c.rate, c.closed, o.Sent())
		}
	}
}

func TestCancel(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, whole) }))
	defer s.Close()
	for _, rate := range []float64{0, 100} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		c := config(s.URL)
		c.Rate, c.Duration = rate, time.Minute
		if _, err := Run(ctx, c); err == nil {
			t.Errorf("rate %v: a cancelled run has an outcome", rate)
		}
		cancel()
	}
}
