// Package porttest reserves ports for the processes of tests.
package porttest

import (
	"net"
	"net/netip"
	"syscall"
	"testing"
)

// Address reserves a port on loopback until the test ends and returns its HOST:PORT. It is for a
// process that starts later, or that must have the same address after a restart. A port that was
// merely free a moment ago may have become the local end of another connection by then.
//
// It binds a socket to the port without listening. With SO_REUSEADDR, which package net sets, too,
// others may listen on the port if they name it. The kernel gives the port to no process that asks
// for any free one.
func Address(t testing.TB) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	loopback := netip.MustParseAddr("127.0.0.1")
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: loopback.As4()}); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(loopback, uint16(bound.(*syscall.SockaddrInet4).Port))).String()
}
