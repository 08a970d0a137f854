package up

import (
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// openSockets counts this process's connections and what it listens on.
func openSockets(t *testing.T) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files cannot be counted here: ", err)
	}
	for _, entry := range list {
		to, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// TestClientsThatGoAwayOrDally: clients that go away or dally leave nothing behind, and others
// get their answers meanwhile. startUp checks that no goroutine is left.
func TestClientsThatGoAwayOrDally(t *testing.T) {
	const clients = 1000
	c := startUp(t, upConfig(t, adsDB(t, 20)))
	address := strings.TrimPrefix(c.url, "http://")
	c.search(t, "usb cable")
	http.DefaultClient.CloseIdleConnections()
	before := openSockets(t)
	connect := func(request string) net.Conn {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for range clients {
		_ = connect("GET /v1/search?q=usb+cable HTTP/1.1\r\nHost: a.example\r\n\r\n").Close()
	}
	var slow []net.Conn
	for range clients {
		slow = append(slow, connect("POST /v1/search HTTP/1.1\r\nHost: a.example\r\nContent-Type: application/json\r\n"+
			"Content-Length: 9000\r\n\r\n{\"q\":"))
	}
	if a := c.search(t, "usb cable"); !a.Coverage.Complete || a.Matched != 20 {
		t.Errorf("while many send slowly: %+v", a)
	}
	answer := make([]byte, 64)
	for i, conn := range slow { // the server's time for a body is over first
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if n, err := conn.Read(answer); err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 408 ") {
			t.Fatalf("slow client %d: %q, %v", i, answer[:n], err)
		}
		_ = conn.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	for end := time.Now().Add(patience); openSockets(t) > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d open connections, %d before", openSockets(t), before)
		}
	}
}
