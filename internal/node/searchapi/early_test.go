package searchapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/apitest"
)

// full returns a handler whose only place is taken until `release` is called, and the observations of the others' requests.
func full(t *testing.T) (h *Handler, seen chan Observation, release func()) {
	t.Helper()
	f := &fake{answer: whole(), hold: make(chan struct{})}
	c := configured(f)
	c.MaxInFlight, c.BodyTimeout = 1, time.Minute
	seen = make(chan Observation, 10)
	c.Observer = watching(func(o *Observation) { seen <- *o })
	h = New(c)
	first := make(chan int, 1)
	go func() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/search?q=a&timeout_ms=5000", nil))
		first <- w.Code
	}()
	for h.State().Running == 0 {
		time.Sleep(time.Millisecond)
	}
	return h, seen, func() {
		t.Helper()
		close(f.hold)
		if code := <-first; code != http.StatusOK {
			t.Errorf("the first: %d", code)
		}
		<-seen
	}
}

type watching func(*Observation)

func (f watching) Observe(o *Observation) { f(o) }

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body is read")
	return 0, io.EOF
}

// TestOverloadIsRefusedBeforeTheBody: a search that finds no place is refused, counted and observed without a byte of its body.
func TestOverloadIsRefusedBeforeTheBody(t *testing.T) {
	h, seen, release := full(t)
	defer release()
	r := httptest.NewRequest(http.MethodPost, "/v1/search", unread{t})
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", "mine")
	res, body := ask(t, h, r)
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" || !strings.Contains(body, `"code":"overloaded"`) {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, body)
	}
	if o := <-seen; o.Operation != OperationSearch || o.RequestID != "mine" || o.Status != res.StatusCode || !fault.Is(o.Err, fault.Overloaded) || o.Query != "" {
		t.Errorf("observed %+v", o)
	}
	if s := h.State(); s.Running != 1 {
		t.Errorf("%+v", s)
	}
}

// TestConnectionsOfRefusals: a connection is kept if the body of the refused request has arrived, and closed at once if not.
func TestConnectionsOfRefusals(t *testing.T) {
	h, _, release := full(t)
	addr := apitest.Serve(t, h)
	const head = "POST /v1/search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
	for _, x := range []struct{ name, sent string }{
		{"half of a body", head + "Content-Length: 100\r\n\r\n{\"q\":"},
		{"a body of empty lines", head + "Content-Length: 100\r\n\r\n\r\n\r\n\r\n"},
		{"no body", head + "Content-Length: 1\r\n\r\n"},
		{"chunks", head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"q\":\r\n"},
		{"a body that is waited for", head + "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n"},
	} {
		res, body := talk(t, addr, http.MethodPost, x.sent)
		if res.StatusCode != http.StatusServiceUnavailable || !res.Close || res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %v %s", x.name, res.StatusCode, res.Header, body)
		}
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for i, body := range []string{`{"q":"a"}`, "\r\n\r\n{\"q\":\r\n\r\n\"a\"}\n", `{"q":"` + strings.Repeat("a ", 1000) + `"}`, `{"q":"a"}`} {
		want := http.StatusServiceUnavailable
		if i == 3 {
			release()
			want = http.StatusOK
		}
		if _, err := fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", head, len(body), body); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want || res.Close {
			t.Errorf("request %d: %d, closed %v: %s, %v", i, res.StatusCode, res.Close, got, err)
		}
	}
}
