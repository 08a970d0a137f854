package balancer

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// TestSlaveConns: a slave is called over one connection as long as it has its address and
// the connection is not broken, and none is left open.
func TestSlaveConns(t *testing.T) {
	t.Parallel()
	p := &slaveConns{open: make(map[string]slaveConn)}
	to := func(name, address string) *grpc.ClientConn {
		t.Helper()
		conn, err := p.to(name, address)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	closed := func(c *grpc.ClientConn) bool { return c.GetState() == connectivity.Shutdown }
	a, b := to("a", "127.0.0.1:1"), to("b", "127.0.0.1:1")
	if a == b || to("a", "127.0.0.1:1") != a || closed(a) {
		t.Error("not one connection for each slave")
	}
	moved := to("a", "127.0.0.1:2")
	if moved == a || !closed(a) || closed(b) {
		t.Error("not another connection to another address")
	}
	if p.drop("a", a); to("a", "127.0.0.1:2") != moved || closed(moved) {
		t.Error("dropped in place of the one before")
	}
	if p.drop("a", moved); !closed(moved) {
		t.Error("a broken connection is open")
	}
	again := to("a", "127.0.0.1:2")
	if p.close(); again == moved || !closed(again) || !closed(b) {
		t.Error("not all are closed")
	}
}
