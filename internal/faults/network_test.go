package faults

import (
	"net"
	"runtime"
	"testing"
	"time"
)

// networked checks that links are cut as faults say: packets are lost in the named directions, and in no others.
func networked(t *testing.T, n *network) {
	if !n.apart {
		t.Skipf("it needs %s", n.why)
	}
	a, b, c := socket(t, n, "a"), socket(t, n, "b"), socket(t, n, "c")
	want := func(what string, ab, ba, ac bool) {
		t.Helper()
		for _, way := range []struct {
			from, to *net.UDPConn
			name     string
			want     bool
		}{{a, b, "a -> b", ab}, {b, a, "b -> a", ba}, {a, c, "a -> c", ac}} {
			if got := arrives(t, way.from, way.to, way.want); got != way.want {
				t.Errorf("%s: %s: %v", what, way.name, got)
			}
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want("at first", true, true, true)
	do(n.cut("a", "b"))
	want("cut one way", false, true, true)
	do(n.cut("b", "a"))
	want("cut", false, false, true)
	do(n.join("a", "b"))
	do(n.join("b", "a"))
	want("joined", true, true, true)
	do(n.off("a"))
	want("without its cable", false, false, false)
	do(n.on("a"))
	want("with its cable", true, true, true)
	do(n.slow("a", 64))
	want("slow", true, true, true)
	do(n.fast("a"))
	want("fast", true, true, true)
}

// socket opens a UDP socket on a host.
func socket(t *testing.T, n *network, name string) (conn *net.UDPConn) {
	t.Helper()
	host, err := n.host(name)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends in the other namespace
		err := n.stay(name)
		if err == nil {
			conn, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(host), Port: 7000})
		}
		opened <- err
	}()
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// arrives sends packets from one socket to another until one arrives or, if none is
// expected, for a moment.
func arrives(t *testing.T, from, to *net.UDPConn, expected bool) bool {
	t.Helper()
	tries, text := 5, make([]byte, 100)
	if expected {
		tries = 200
	}
	sent := time.Now().String() // unlike an older packet, which may arrive late
	for range tries {
		_, _ = from.WriteTo([]byte(sent), to.LocalAddr()) // a cut link may return an error
		if err := to.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		for got, err := 0, error(nil); err == nil; {
			if got, err = to.Read(text); err == nil && string(text[:got]) == sent {
				return true
			}
		}
	}
	return false
}
