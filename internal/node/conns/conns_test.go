package conns_test

import (
	"io"
	"net"
	"testing"
	"time"

	"adshard/internal/node/conns"
)

// server accepts connections of a pool and echoes what it reads.
func server(t *testing.T, p *conns.Pool) (address string) {
	t.Helper()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := p.Listener(plain)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-ended })
	return plain.Addr().String()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// echoes reports whether a connection is served.
func echoes(c net.Conn) bool {
	if _, err := c.Write([]byte("x")); err != nil {
		return false
	}
	_, err := io.ReadFull(c, make([]byte, 1))
	return err == nil
}

func TestTheIdlestMakesRoom(t *testing.T) {
	p := conns.New(3)
	address := server(t, p)
	a, b, c := dial(t, address), dial(t, address), dial(t, address)
	for _, one := range []net.Conn{a, b, c, a} { // b has then been idle for longest
		if !echoes(one) {
			t.Fatal("one of three is not served")
		}
	}
	d := dial(t, address)
	if !echoes(d) {
		t.Fatal("the newcomer is not served")
	}
	if echoes(b) {
		t.Error("the idlest is still served")
	}
	if !echoes(a) || !echoes(c) || !echoes(d) {
		t.Error("another one was closed than the idlest")
	}
	if p.Open() != 3 || p.Evicted() != 1 {
		t.Errorf("%d open, %d evicted", p.Open(), p.Evicted())
	}
}

func TestListenersShareTheRoom(t *testing.T) {
	p := conns.New(2)
	one, other := server(t, p), server(t, p)
	a, b := dial(t, one), dial(t, other)
	if !echoes(a) || !echoes(b) {
		t.Fatal("not served")
	}
	if c := dial(t, other); !echoes(c) || echoes(a) || !echoes(b) {
		t.Error("the idlest of all listeners must make room")
	}
}

func TestClosedConnectionsLeaveTheirPlace(t *testing.T) {
	p := conns.New(2)
	address := server(t, p)
	for range 20 {
		c := dial(t, address)
		if !echoes(c) {
			t.Fatal("not served")
		}
		_ = c.Close()
		for end := time.Now().Add(time.Minute); p.Open() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("a closed connection keeps its place")
			}
		}
	}
	if p.Evicted() != 0 {
		t.Errorf("%d evicted", p.Evicted())
	}
}

// TestTheMuteDoNotDisplaceThoseWhoRest: idle clients that have sent a request before keep their
// connections, however many others connect and stay silent.
func TestTheMuteDoNotDisplaceThoseWhoRest(t *testing.T) {
	p := conns.New(16)
	address := server(t, p)
	var rest []net.Conn
	for range 12 {
		c := dial(t, address)
		if !echoes(c) {
			t.Fatal("not served")
		}
		rest = append(rest, c)
	}
	for range 50 {
		dial(t, address)
	}
	for end := time.Now().Add(time.Minute); p.Evicted() < 46; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d evicted", p.Evicted())
		}
	}
	for i, c := range rest {
		if !echoes(c) {
			t.Errorf("client %d was displaced", i)
		}
	}
	if c := dial(t, address); !echoes(c) {
		t.Error("a newcomer is not served")
	}
}
