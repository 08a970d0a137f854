package porttest

import (
	"net"
	"testing"
)

// TestAddressIsReserved: a program that names the port may listen on it repeatedly, and no other
// process gets it.
func TestAddressIsReserved(t *testing.T) {
	reserved := make(map[string]bool)
	for range 100 {
		address := Address(t)
		if reserved[address] {
			t.Fatalf("%s is reserved twice", address)
		}
		reserved[address] = true
		for range 2 {
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			_ = l.Close()
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			t.Fatalf("something listens on %s", address)
		}
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for range 300 { // all ports differ as long as all are open
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		conn, err := net.Dial("tcp", server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if reserved[listener.Addr().String()] || reserved[conn.LocalAddr().String()] {
			t.Fatalf("a reserved port was given away: %s, %s", listener.Addr(), conn.LocalAddr())
		}
	}
}
