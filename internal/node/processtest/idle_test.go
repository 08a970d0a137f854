package processtest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"adshard/internal/node/up"
)

// crowd opens connections to an address and keeps them silent. Every second one has had an answer
// before, so that the time limit for a first request does not close it.
func crowd(t *testing.T, address string, n int, request string) {
	t.Helper()
	for i := range n {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if i%2 == 0 || request == "" {
			continue
		}
		if _, err := fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: localhost\r\n\r\n", request); err != nil {
			t.Fatal(err)
		}
		_, _ = bufio.NewReader(c).ReadString('\n') // or the connection had to make room for another
	}
}

// TestIdleConnectionsShutNobodyOut: 200 idle connections, more than a process may have files open,
// do not keep other clients out.
func TestIdleConnectionsShutNobodyOut(t *testing.T) {
	t.Parallel()
	const idle = 200
	w := newWorld(t, 40)
	cfg := up.DefaultConfig()
	cfg.DB, cfg.Data, cfg.HTTP, cfg.Admin, cfg.Memory, cfg.Slaves = w.url(), dir(t, "data"), anyPort, anyPort, 512<<20, 3
	up := startUnder(t, "-n 128", "up", cfg)
	admin, url := up.line("admin "), up.line("ready ")
	crowd(t, strings.TrimPrefix(url, "http://"), idle, "GET /v1/search?q=usb")
	crowd(t, strings.TrimPrefix(admin, "http://"), idle, "GET /livez")
	for i := range 3 {
		crowd(t, up.line(fmt.Sprintf("slave %d listening ", i)), idle, "")
	}
	http.DefaultClient.CloseIdleConnections()
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		res, err := http.Get(admin + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	w.follows(url)
	w.compare(url)
	if list := slaves(t, admin); len(list) != 3 {
		t.Errorf("slaves %+v", list)
	}
	// Changes still reach the slaves, which need open files for them.
	w.write(40, 45)
	w.follows(url)
	http.DefaultClient.CloseIdleConnections()
}
