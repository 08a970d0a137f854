package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adshard/internal/node/httpapi"
)

// TestNoHTTP2: query ports and admin ports speak only HTTP/1.1, so they cannot be flooded with HTTP/2 frames. A
// client that begins HTTP/2 in any way gets one answer, or is answered in HTTP/1.1. The frames that follow do
// not count as requests.
func TestNoHTTP2(t *testing.T) {
	frames := "\x00\x00\x00\x04\x00\x00\x00\x00\x00" + strings.Repeat("\x00\x00\x00\x01\x04\x00\x00\x00\x01\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x08", 1000)
	for name, text := range map[string]string{
		"prior knowledge": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frames,
		"an upgrade": "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n" +
			"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frames,
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var handled, second atomic.Int64
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- httpapi.Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					handled.Add(1)
					if r.ProtoMajor > 1 && r.Method != "PRI" {
						second.Add(1)
					}
					w.WriteHeader(http.StatusNotFound)
				}))
			}()
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go func() { _, _ = io.WriteString(conn, text) }()
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			answer, err := io.ReadAll(conn)
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				t.Error("the connection stays open")
			}
			if n := handled.Load(); n > 2 || second.Load() > 0 {
				t.Errorf("%d requests were handled, %d of HTTP/2", n, second.Load())
			}
			if strings.Contains(string(answer), "101 Switching") {
				t.Errorf("it was switched: %.100q", answer)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
