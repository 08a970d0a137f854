package certs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
	"adshard/internal/node/config"
	"adshard/internal/node/conns"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

var quiet = slog.New(slog.DiscardHandler)

// serve serves maps as a slave would, with the given credentials, until the test ends.
func serve(t *testing.T, own *certs.Credentials) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, own)
}

// serveOn is serve on an existing listener.
func serveOn(t *testing.T, l net.Listener, own *certs.Credentials) (address string) {
	t.Helper()
	s := grpc.NewServer(wire.SlaveOptions(words.Default, nil, own.ServerOptions()...)...)
	pb.RegisterSlaveServer(s, mapServer{})
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

type mapServer struct{ pb.UnimplementedSlaveServer }

// Map answers with the caller's name.
func (mapServer) Map(ctx context.Context, _ *pb.MapRequest) (*pb.MapResponse, error) {
	return &pb.MapResponse{Name: access.CallerOf(ctx).String()}, nil
}

// ask calls a server and returns the caller's name as the server sees it.
func ask(t *testing.T, address string, options ...grpc.DialOption) (string, error) {
	t.Helper()
	conn, err := wire.Dial(address, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	reply, err := pb.NewSlaveClient(conn).Map(ctx, &pb.MapRequest{})
	return reply.GetName(), err
}

// TestTwoRolls: in each state that a cluster passes through while TLS is turned on, all processes can
// talk to each other. In the last state none can connect without TLS.
func TestTwoRolls(t *testing.T) {
	ca := certtest.New(t)
	at := func(mode string, role access.Role, name string) *certs.Credentials {
		if mode == certs.Off {
			return nil
		}
		return ca.Open(mode, role, name)
	}
	for _, c := range []struct{ server, client, caller string }{
		{certs.Off, certs.Off, "somebody unknown"},
		{certs.Off, certs.Both, "somebody unknown"},
		{certs.Both, certs.Off, "somebody unknown"},
		{certs.Both, certs.Both, "master m"},
		{certs.Both, certs.Required, "master m"},
		{certs.Required, certs.Both, "master m"},
		{certs.Required, certs.Required, "master m"},
		{certs.Required, certs.Off, ""},
		{certs.Off, certs.Required, ""},
	} {
		address := serve(t, at(c.server, access.Slave, "slave-1"))
		got, err := ask(t, address, at(c.client, access.Master, "m").To("slave-1", access.Slave)...)
		if got != c.caller || (err == nil) != (c.caller != "") {
			t.Errorf("server %s, client %s: %q, %v", c.server, c.client, got, err)
		}
	}
}

// TestBothSidesCheck: a peer other than the intended one is refused, although others may still use
// plain connections.
func TestBothSidesCheck(t *testing.T) {
	ca, other, namesake := certtest.New(t), certtest.Named(t, "other"), certtest.New(t)
	master := func(c *certtest.Cluster) *certs.Credentials { return c.Open(certs.Both, access.Master, "m") }
	for name, c := range map[string]struct {
		server, client *certs.Credentials
		ok             bool
	}{
		"as meant":                {ca.Open(certs.Both, access.Slave, "slave-1"), master(ca), true},
		"another slave":           {ca.Open(certs.Both, access.Slave, "slave-2"), master(ca), false},
		"another role":            {ca.Open(certs.Both, access.Balancer, "slave-1"), master(ca), false},
		"a master as server":      {ca.Open(certs.Both, access.Master, "slave-1"), master(ca), false},
		"a CA of another cluster": {ca.Open(certs.Both, access.Slave, "slave-1"), master(other), false},
		"another CA of that name": {ca.Open(certs.Both, access.Slave, "slave-1"), master(namesake), false},
		"a slave that asks":       {ca.Open(certs.Both, access.Slave, "slave-1"), ca.Open(certs.Both, access.Slave, "slave-2"), false},
	} {
		if _, err := ask(t, serve(t, c.server), c.client.To("slave-1", access.Slave)...); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHalfAHandshakeIsNoClient: clients that have shown a certificate keep their connections, however
// many others connect without finishing a handshake.
func TestHalfAHandshakeIsNoClient(t *testing.T) {
	const room, peers = 16, 10
	ca, pool := certtest.New(t), conns.New(room)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := serveOn(t, pool.Listener(plain), ca.Open(certs.Required, access.Slave, "slave-1"))
	own := ca.Open(certs.Required, access.Master, "m")
	var dials atomic.Int64
	count := grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	})
	var clients []pb.SlaveClient
	call := func(c pb.SlaveClient) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := c.Map(ctx, &pb.MapRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	for range peers {
		conn, err := wire.Dial(address, append(own.To("slave-1", access.Slave), count)...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		clients = append(clients, pb.NewSlaveClient(conn))
		call(clients[len(clients)-1])
	}
	for range 50 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = c.Write([]byte{0x16}) // the first byte of a TLS handshake
	}
	until(t, "there was no room for all", func() bool { return pool.Evicted() >= 50-(room-peers) })
	for _, c := range clients {
		call(c)
	}
	if n := dials.Load(); n != peers {
		t.Errorf("%d clients have connected %d times", peers, n)
	}
}

// TestRotation: the next connection uses new files without a restart. Half a pair, or a file that
// cannot be parsed, leaves the previous files in use.
func TestRotation(t *testing.T) {
	ca := certtest.New(t)
	settings := ca.Settings(certs.Required, access.Slave, "slave-1")
	own, err := settings.Open(access.Slave, "slave-1", quiet)
	if err != nil {
		t.Fatal(err)
	}
	address := serve(t, own)
	serial := func() string {
		t.Helper()
		pair := ca.Pair(access.Master, "m", time.Hour)
		mine, err := tls.X509KeyPair(pair.Cert, pair.Key)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{mine}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	first := serial()
	next := ca.Pair(access.Slave, "slave-1", time.Hour)
	if err := os.WriteFile(settings.TLS.Key, next.Key, 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // longer than the interval between two checks of the files
	if serial() != first {
		t.Fatal("a key without its certificate is in use")
	}
	if err := os.WriteFile(settings.TLS.Cert, next.Cert, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the new certificate is in use", func() bool { return serial() != first })
	second := serial()
	if err := os.WriteFile(settings.TLS.CA, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond)
	if serial() != second {
		t.Error("nonsense changed the certificate")
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestConnectionsEndWithTheirCertificate: an open connection is closed by the server when the
// client's certificate expires.
func TestConnectionsEndWithTheirCertificate(t *testing.T) {
	ca := certtest.New(t)
	address := serve(t, ca.Open(certs.Required, access.Slave, "slave-1"))
	pair := ca.Pair(access.Master, "m", 2*time.Second)
	mine, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{mine}, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil { // a client of HTTP/2
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(15 * time.Second)) // before the server's first ping is late
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the connection was not closed cleanly: %v", err)
	}
	if time.Now().Before(mine.Leaf.NotAfter) {
		t.Error("the connection was closed before the certificate expired")
	}
}

// TestFilesAreChecked: files that cannot work are refused at startup, and the error names the file.
func TestFilesAreChecked(t *testing.T) {
	ca, other := certtest.New(t), certtest.New(t)
	good := ca.Settings(certs.Required, access.Slave, "slave-1")
	expired := ca.Pair(access.Slave, "slave-1", -time.Minute)
	for name, c := range map[string]struct {
		change func(s *certs.Settings)
		says   string
	}{
		"good":         {func(*certs.Settings) {}, ""},
		"no file":      {func(s *certs.Settings) { s.TLS.Cert += "x" }, "no such file"},
		"another key":  {func(s *certs.Settings) { s.TLS.Key = other.Settings(certs.Both, access.Slave, "x").TLS.Key }, "private key does not match"},
		"another CA":   {func(s *certs.Settings) { s.TLS.CA = other.CA() }, "unknown authority"},
		"no CA":        {func(s *certs.Settings) { s.TLS.CA = s.TLS.Key }, "has no certificate"},
		"another name": {func(s *certs.Settings) { s.TLS = ca.Settings(certs.Both, access.Slave, "slave-2").TLS }, "slave slave-2"},
		"another role": {func(s *certs.Settings) { s.TLS = ca.Settings(certs.Both, access.Master, "slave-1").TLS }, "master slave-1"},
		"expired": {func(s *certs.Settings) {
			s.TLS.Cert, s.TLS.Key = ca.Write("e.crt", expired.Cert), ca.Write("e.key", expired.Key)
		}, "expired"},
		"a key for others": {func(s *certs.Settings) { s.TLS.Key = ca.Write("open.key", nil); _ = os.Chmod(s.TLS.Key, 0o644) }, "chmod 600"},
		"tokens": {func(s *certs.Settings) {
			s.Tokens = ca.Write("tokens", []byte("operator alice planted-secret-planted-secret x"))
		}, "line 1"},
	} {
		s := good
		c.change(&s)
		_, err := s.Open(access.Slave, "slave-1", quiet)
		if c.says == "" && err != nil || c.says != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: the error has a secret: %v", name, err)
		}
	}
}

// TestTheErrorOfAnotherRoleNamesACommand: the error for a certificate of another role names the
// command that issues the correct one, even if any name is allowed.
func TestTheErrorOfAnotherRoleNamesACommand(t *testing.T) {
	s := certtest.New(t).Settings(certs.Required, access.Slave, "slave-1")
	_, err := s.Open(access.Balancer, "", quiet)
	if err == nil || !strings.Contains(err.Error(), "this is the balancer: `adshard cert issue balancer NAME`") {
		t.Error(err)
	}
}

// TestAnHTTPPortTakesBoth: an HTTP port accepts plain and TLS connections, told apart by the first
// byte. A plain request to a port that accepts only TLS is answered with an instruction.
func TestAnHTTPPortTakesBoth(t *testing.T) {
	ca := certtest.New(t)
	roots := x509.NewCertPool()
	text, err := os.ReadFile(ca.CA())
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}, Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	for _, mode := range []string{certs.Both, certs.Required} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		listener := ca.Open(mode, access.Balancer, "b").Admin(l)
		go func() {
			done <- httpapi.Serve(ctx, listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, access.CallerOf(r.Context()).String())
			}))
		}()
		get := func(scheme string) (int, string) {
			res, err := client.Get(scheme + "://" + l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return res.StatusCode, string(body)
		}
		for range 2 { // the second request uses the same connection
			if status, body := get("https"); status != 200 || body != "somebody unknown" {
				t.Errorf("%s over https: %d %s", mode, status, body)
			}
		}
		status, body := get("http")
		if ok := mode == certs.Both; ok && status != 200 || !ok && (status != 400 || !strings.Contains(body, "https://")) {
			t.Errorf("%s over http: %d %s", mode, status, body)
		}
		client.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestBeyondLoopbackNeedsTLS: listening beyond loopback requires TLS, or a setting that allows it
// without.
func TestBeyondLoopbackNeedsTLS(t *testing.T) {
	for _, c := range []struct {
		address, mode string
		insecure, ok  bool
	}{
		{"127.0.0.1:1", certs.Off, false, true}, {"[::1]:1", certs.Off, false, true}, {"localhost:1", certs.Off, false, true}, {"", certs.Off, false, true},
		{":1", certs.Off, false, false}, {"0.0.0.0:1", certs.Off, false, false}, {"[::]:1", certs.Off, false, false}, {"10.0.0.5:1", certs.Off, false, false},
		{"host-1:1", certs.Off, false, false}, {"localhost.example:1", certs.Off, false, false},
		{":1", certs.Off, true, true}, {":1", certs.Both, false, true}, {":1", certs.Required, false, true},
	} {
		var own, query config.Check
		s := certs.Settings{TLS: certs.TLS{Mode: c.mode}, Insecure: c.insecure}
		s.CheckListen(&own, "listen", c.address)
		q := certs.QueryTLS{Mode: c.mode}
		q.CheckListen(&query, "http", c.address, c.insecure)
		if (own.Err() == nil) != c.ok || (query.Err() == nil) != c.ok {
			t.Errorf("%+v: %v; %v", c, own.Err(), query.Err())
		}
	}
}
