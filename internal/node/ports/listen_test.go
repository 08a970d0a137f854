package ports

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"adshard/fault"
	"adshard/internal/node/conns"
)

// TestListenSaysWhatToChange: each reason for which a port is refused has its own text, which names
// the flag and nothing unrelated.
func TestListenSaysWhatToChange(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	refused := func(errno syscall.Errno) error {
		return listenFault("http", "127.0.0.1:80", &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", errno)})
	}
	listen := func(address string) error {
		l, err := Listen(conns.New(16), "http", address)
		if err == nil {
			_ = l.Close()
		}
		return err
	}
	const inUse, privileges, foreign, name = "another process listens", "need privileges", "not an address of this machine", "cannot be resolved"
	for _, c := range []struct {
		err  error
		kind fault.Kind
		says string
	}{
		{listen(taken.Addr().String()), fault.Conflict, inUse},
		{refused(syscall.EADDRINUSE), fault.Conflict, inUse},
		{refused(syscall.EACCES), fault.Invalid, privileges},
		{refused(syscall.EADDRNOTAVAIL), fault.Invalid, foreign},
		{listen("192.0.2.1:0"), fault.Invalid, foreign}, // an address reserved for documentation, so never in use
		{listenFault("http", "none.invalid:80", &net.OpError{Op: "listen", Err: &net.DNSError{Err: "no such host", Name: "none.invalid"}}), fault.Invalid, name},
		{listenFault("http", "127.0.0.1:80", errors.New("else")), fault.Invalid, "choose another address"},
	} {
		if !fault.Is(c.err, c.kind) || !strings.Contains(c.err.Error(), c.says) || !strings.Contains(c.err.Error(), "--http") {
			t.Errorf("%v; want %q", c.err, c.says)
			continue
		}
		for _, other := range []string{inUse, privileges, foreign, name} {
			if other != c.says && strings.Contains(c.err.Error(), other) {
				t.Errorf("%v says %q", c.err, other)
			}
		}
	}
}
