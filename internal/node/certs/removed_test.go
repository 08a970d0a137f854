package certs_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// lookTime is the longest time until a changed file takes effect, including on a busy machine.
const lookTime = 20 * time.Second

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(lookTime); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %v: %s", lookTime, what)
}

// TestARemovedTokenIsRefused: a running process refuses a token that was removed, including the last one.
func TestARemovedTokenIsRefused(t *testing.T) {
	const alice, bob = "0123456789-0123456789-alice", "0123456789-0123456789-bob"
	ca := certtest.New(t)
	s := certs.Settings{TLS: certs.TLS{Mode: certs.Off}, Tokens: ca.Write("tokens", []byte("operator alice "+alice+"\noperator bob "+bob+"\n"))}
	own, err := s.Open(access.Balancer, "b", quiet)
	if err != nil {
		t.Fatal(err)
	}
	gate := own.Gate()
	may := func(token string) bool {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/slaves", nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		_, err := gate.Check(r, access.HTTPCall(access.AdminPort, "GET", "/v1/slaves"))
		if err != nil && !fault.Is(err, fault.Forbidden) {
			t.Error(err)
		}
		return err == nil
	}
	if !may(alice) || !may(bob) || may("") {
		t.Fatalf("in the beginning: alice %v, bob %v, nobody %v", may(alice), may(bob), may(""))
	}
	ca.Write("tokens", []byte("operator bob "+bob+"\n"))
	eventually(t, "alice is refused", func() bool { return !may(alice) })
	if !may(bob) {
		t.Error("bob is refused, too")
	}
	ca.Write("tokens", nil)
	eventually(t, "bob is refused", func() bool { return !may(bob) })
	if may("") {
		t.Error("without any token the port is open")
	}
	if list := own.Refused(time.Minute); len(list) > 0 { // doctor would have a process given a certificate
		t.Errorf("people at the admin port are taken for processes: %+v", list)
	}
}

// bundled returns the credentials of a process of one CA that also trusts another one, and a function that makes it trust
// only its own.
func bundled(t *testing.T, ca, other *certtest.Cluster, role access.Role, name string) (own *certs.Credentials, alone func()) {
	t.Helper()
	var both []byte
	for _, file := range []string{ca.CA(), other.CA()} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, text...)
	}
	first, err := os.ReadFile(ca.CA())
	if err != nil {
		t.Fatal(err)
	}
	s := ca.Settings(certs.Required, role, name)
	s.TLS.CA = ca.Write(name+"-bundle.crt", both)
	if own, err = s.Open(role, name, quiet); err != nil {
		t.Fatal(err)
	}
	own.RecheckEvery(20 * time.Millisecond)
	return own, func() { ca.Write(name+"-bundle.crt", first) }
}

// TestConnectionsOfARemovedCAEnd: each side of an open connection closes it when its file no longer contains the CA of the
// other side.
func TestConnectionsOfARemovedCAEnd(t *testing.T) {
	for _, side := range []string{"server", "client"} {
		t.Run(side, func(t *testing.T) {
			older, newer := certtest.New(t), certtest.New(t)
			server, serverAlone := bundled(t, newer, older, access.Slave, "slave-1")
			client, clientAlone := bundled(t, older, newer, access.Master, "m")
			conn, err := wire.Dial(serve(t, server), client.To("slave-1", access.Slave)...)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			call := func() error {
				ctx, cancel := context.WithTimeout(t.Context(), lookTime)
				defer cancel()
				_, err := pb.NewSlaveClient(conn).Map(ctx, &pb.MapRequest{})
				return err
			}
			time.Sleep(100 * time.Millisecond) // several checks find that all is well
			if err := call(); err != nil {
				t.Fatal(err)
			}
			map[string]func(){"server": serverAlone, "client": clientAlone}[side]()
			eventually(t, "calls fail", func() bool { return fault.Is(call(), fault.Unavailable) })
		})
	}
}

// TestAdminConnectionsOfARemovedCAEnd: admin connections of a removed CA are closed, including idle ones.
func TestAdminConnectionsOfARemovedCAEnd(t *testing.T) {
	older, newer := certtest.New(t), certtest.New(t)
	own, alone := bundled(t, newer, older, access.Balancer, "b")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admin := http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = admin.Serve(own.Admin(l)) }()
	t.Cleanup(func() { _ = admin.Close() })
	pair := older.Pair(access.Operator, "alice", time.Hour)
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{Certificates: []tls.Certificate{cert}, InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1<<10)
	n, err := conn.Read(answer)
	if err != nil || !bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 404")) {
		t.Fatalf("%q, %v", answer[:n], err)
	}
	alone()
	if err := conn.SetReadDeadline(time.Now().Add(lookTime)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection lives on")
	}
}
