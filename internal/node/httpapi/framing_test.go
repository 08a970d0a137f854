package httpapi_test

import (
	"bufio"
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

// TestUnclearEndsCloseTheConnection: if the end of a request is ambiguous, the connection is closed, whatever the order, spelling and
// splitting of the headers, and whatever came before on the connection.
func TestUnclearEndsCloseTheConnection(t *testing.T) {
	addr := apitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprint(w, len(body), err)
	}))
	const (
		plain   = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
		chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
		get     = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	)
	clear := [][]string{{plain, plain, plain}, {chunked, chunked}, {plain, chunked, plain, get, chunked}, {get, get, plain},
		{"POST / HTTP/1.1\r\nHost: a\r\nX-Content-Length: 2\r\nX-A: Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}}
	for _, sent := range clear {
		for _, size := range []int{1, 7, 4096} {
			if n := answered(t, addr, size, append(sent, get)...); n != len(sent)+1 {
				t.Errorf("%q in parts of %d bytes: %d answers of %d", sent, size, n, len(sent)+1)
			}
		}
	}
	for _, length := range []string{"Content-Length: 0", "content-length:5", "CONTENT-LENGTH:\t99", "Content-Length: 0\r\nContent-Length: 0"} {
		for _, encoding := range []string{"Transfer-Encoding: chunked", "transfer-encoding:CHUNKED"} {
			for _, headers := range []string{length + "\r\n" + encoding, encoding + "\r\n" + length, encoding + "\r\nX-Other: y\r\n" + length} {
				odd := "POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
				for _, before := range [][]string{nil, {plain}, {get, chunked, plain}} {
					for _, size := range []int{1, 5, 4096} {
						sent := append(append([]string{}, before...), odd, get)
						if n := answered(t, addr, size, sent...); n != len(before)+1 {
							t.Errorf("%q in parts of %d bytes: %d answers, want %d", sent, size, n, len(before)+1)
						}
					}
				}
			}
		}
	}
	old := "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}"
	if n := answered(t, addr, 4096, old, get); n != 1 {
		t.Errorf("HTTP/1.0: %d answers", n)
	}
	if n := answered(t, addr, 4096, get+strings.Replace(plain, "Host: a", "Host: a\r\nTransfer-Encoding: chunked", 1)+get); n > 2 {
		t.Errorf("sent at once: %d answers", n)
	}
}

// answered sends requests in parts, each after the previous request was answered. It returns how many answers arrived until the server
// closed the connection or answered all.
func answered(t *testing.T, addr string, size int, requests ...string) (n int) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.(*net.TCPConn).SetNoDelay(true)
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for _, r := range requests {
		for len(r) > 0 {
			part := r[:min(size, len(r))]
			if _, err := io.WriteString(c, part); err != nil {
				return n
			}
			r = r[len(part):]
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return n
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestBodyArrived: a body counts as arrived if all of it has come with its head, whatever it contains and whatever came before on the
// connection. What is not known counts as not arrived.
func TestBodyArrived(t *testing.T) {
	addr := apitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived := httpapi.BodyArrived(r)
		if !arrived {
			httpapi.CloseAfter(w)
		}
		fmt.Fprint(w, arrived)
	}))
	const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n"
	for _, x := range []struct {
		sent []string
		want string
	}{
		{[]string{head + "{\"q\"}\n"}, "true"},
		{[]string{head + "\r\n\r\n\r\n"}, "true"},
		{[]string{head + "{\"q\":1", head + "\n\n\n\n\n\n", "\r\n" + head + "{\"q\":1"}, "true true true"},
		{[]string{head + "{\"q\":1", head + "{\"q\":"}, "true false"},
		{[]string{head + "{\"q\"}\n", "\r\n" + head + "\n"}, "true false"},
		{[]string{head + "\r\n\r\n"}, "false"},
		{[]string{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n0\r\n\r\n"}, "false"},
	} {
		if got := said(t, addr, x.sent); got != x.want {
			t.Errorf("%q: %s, want %s", x.sent, got, x.want)
		}
	}
}

// said sends requests over one connection, each after the answer to the one before, and returns the bodies of the answers.
func said(t *testing.T, addr string, requests []string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	var all []string
	for _, r := range requests {
		if _, err := io.WriteString(c, r); err != nil {
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
		all = append(all, string(body))
	}
	return strings.Join(all, " ")
}
