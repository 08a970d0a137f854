package searchapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/apitest"
)

// talk sends bytes over a new connection and reads one response.
func talk(t *testing.T, addr, method, sent string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(c, sent) }()
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// TestBodiesThatNeverEnd: requests with bodies that never end are answered, and their connections are
// closed.
func TestBodiesThatNeverEnd(t *testing.T) {
	c := configured(&fake{answer: whole()})
	c.BodyTimeout = 100 * time.Millisecond
	impatient := apitest.Serve(t, New(c))
	c.BodyTimeout = time.Minute // what is sent in full arrives in time
	patient := apitest.Serve(t, New(c))
	const head = " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
	for _, x := range []struct {
		name, method, sent string
		status             int
	}{
		{"length, then silence", "POST", "POST /v1/search" + head + "Content-Length: 100\r\n\r\n{\"q\":", 408},
		{"chunks, then silence", "POST", "POST /v1/search" + head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"q\":\r\n", 408},
		{"endless chunks", "POST", "POST /v1/search" + head + "Transfer-Encoding: chunked\r\n\r\n" +
			strings.Repeat("1000\r\n"+strings.Repeat(" ", 4096)+"\r\n", maxBody/4096+1), 413},
		{"wrong length", "POST", "POST /v1/search" + head + "Content-Length: 1000000000\r\n\r\n" + strings.Repeat(" ", maxBody+20000), 413},
		{"wrong type", "POST", "POST /v1/search HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{", 415},
		{"GET with a body", "GET", "GET /v1/search?q=a" + head + "Content-Length: 100\r\n\r\n{", 400},
		{"PUT with a body", "PUT", "PUT /v1/search" + head + "Transfer-Encoding: chunked\r\n\r\n", 405},
		{"unknown path", "POST", "POST /x" + head + "Content-Length: 100\r\n\r\n{", 404},
		{"parameters", "POST", "POST /v1/search?q=a" + head + "Content-Length: 100\r\n\r\n{", 400},
		{"request id", "POST", "POST /v1/search" + head + "X-Request-Id: \xff\r\nContent-Length: 100\r\n\r\n{", 400},
	} {
		addr := patient
		if x.status == http.StatusRequestTimeout {
			addr = impatient
		}
		res, body := talk(t, addr, x.method, x.sent)
		if res.StatusCode != x.status || !strings.HasPrefix(body, `{"error":{`) {
			t.Errorf("%s: %d %s", x.name, res.StatusCode, body)
		}
		if !res.Close {
			t.Errorf("%s: the connection stays open", x.name)
		}
	}
}

// TestSlowBodyDoesNotEndTheSearch: the time limit of the body does not limit the search.
func TestSlowBodyDoesNotEndTheSearch(t *testing.T) {
	f := &fake{answer: whole(), hold: make(chan struct{})}
	c := configured(f)
	c.BodyTimeout = 30 * time.Millisecond
	addr := apitest.Serve(t, New(c))
	time.AfterFunc(100*time.Millisecond, func() { close(f.hold) })
	const body = `{"q":"a","timeout_ms":5000}`
	res, got := talk(t, addr, "POST", fmt.Sprintf("POST /v1/search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	if res.StatusCode != http.StatusOK {
		t.Errorf("%d %s", res.StatusCode, got)
	}
}

// TestDeadlineCountsFromTheFirstByte sends the head of a request in two parts,
// twice on one connection.
func TestDeadlineCountsFromTheFirstByte(t *testing.T) {
	addr := apitest.Serve(t, New(configured(&fake{answer: whole()})))
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for range 2 {
		counts := false
		for pause := 100 * time.Millisecond; !counts && pause < 2*time.Second; pause *= 4 { // the server may read the first part late
			time.Sleep(100 * time.Millisecond) // idle: does not count
			counts = tookOf(t, c, in, pause) >= pause/2
		}
		if !counts {
			t.Error("the time in which a request is sent does not count")
		}
	}
}

// tookOf sends a request with a pause in its head, and returns the duration that the answer reports.
func tookOf(t *testing.T, c net.Conn, in *bufio.Reader, pause time.Duration) time.Duration {
	t.Helper()
	_, err := io.WriteString(c, "GET /v1/search?q=a&timeout_ms=5000 HT")
	time.Sleep(pause)
	if err == nil {
		_, err = io.WriteString(c, "TP/1.1\r\nHost: a\r\n\r\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(searchAnswer(t, string(body)).TookUs) * time.Microsecond
}

// TestServeLetsRequestsFinish: a server that ends lets a request in progress finish.
func TestServeLetsRequestsFinish(t *testing.T) {
	f := &fake{answer: whole(), hold: make(chan struct{})}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := New(configured(f))
	ended := make(chan error, 1)
	go func() { ended <- httpapi.Serve(ctx, ln, h) }()
	status := make(chan int, 1)
	go func() {
		res, _ := talk(t, ln.Addr().String(), "GET", "GET /v1/search?q=a&timeout_ms=5000 HTTP/1.1\r\nHost: a\r\n\r\n")
		status <- res.StatusCode
	}()
	for h.State().Running == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	time.Sleep(10 * time.Millisecond)
	close(f.hold)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := <-status; got != http.StatusOK {
		t.Errorf("status %d", got)
	}
}
