package access_test

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"adshard/internal/node/access"
	"adshard/internal/node/admin"
	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
	"adshard/internal/node/data"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/apitest"
	"adshard/internal/node/metrics"
	"adshard/internal/node/nodetest"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/calls.txt")

// somebody is a caller that tries all calls.
type somebody struct {
	name string      // as in testdata/calls.txt
	as   string      // the name in messages
	tls  *tls.Config // nil for a plain connection
}

// everybody returns a caller of each role, and others with certificates that are not valid.
func everybody(t *testing.T, ca *certtest.Cluster) (all []somebody) {
	t.Helper()
	add := func(name string, from *certtest.Cluster, role access.Role, life time.Duration) {
		s := somebody{name: name, as: "one", tls: &tls.Config{InsecureSkipVerify: true}}
		if from != nil {
			pair := from.Pair(role, "one", life)
			own, err := tls.X509KeyPair(pair.Cert, pair.Key)
			if err != nil {
				t.Fatal(err)
			}
			s.tls.Certificates = []tls.Certificate{own}
		}
		all = append(all, s)
	}
	for _, role := range access.Roles() {
		add(string(role), ca, role, time.Hour)
	}
	for _, role := range access.Roles() {
		add("expired", ca, role, -time.Minute)
		add("wrong-ca", certtest.New(t), role, time.Hour)
		add("other-cluster", certtest.Named(t, "other"), role, time.Hour)
	}
	add("no-certificate", nil, "", 0)
	return append(all, somebody{name: "plain", as: "one"})
}

// TestEveryCallOfEveryRole makes each call of each port as each role, and as a caller without a certificate, with one of
// another CA and with an expired one. testdata/calls.txt, written for people, says which callers get through.
func TestEveryCallOfEveryRole(t *testing.T) {
	ca := certtest.New(t)
	own := ca.Open(certs.Required, access.Balancer, "b")
	peers, queries, adminAddress := peerServer(t, own), queryServer(t, ca), adminServer(t, own)
	allowed := make(map[string]map[string]bool)
	note := func(call, who string, ok bool) {
		if allowed[call] == nil {
			allowed[call] = make(map[string]bool)
		}
		if before, tried := allowed[call][who]; tried && before != ok {
			t.Errorf("%s is open to some who are %s, not to others", call, who)
		}
		allowed[call][who] = ok
	}
	for _, who := range everybody(t, ca) {
		t.Run(who.name, func(t *testing.T) {
			toPeers, toQueries := who.dial(t, peers), who.dial(t, queries)
			for _, m := range methods() {
				conn := toPeers
				if m.Parent().Name() == "Master" {
					conn = toQueries
				}
				note(fullName(m), who.name, who.calls(t, conn, m))
			}
			c := http.Client{Transport: &http.Transport{TLSClientConfig: who.tls}, Timeout: 20 * time.Second,
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			defer c.CloseIdleConnections()
			for pattern, methods := range admin.Routes() {
				for _, method := range methods {
					note(access.HTTPCall(access.AdminPort, method, pattern), who.name, who.requests(t, &c, adminAddress, method, pattern))
				}
			}
		})
	}
	compare(t, allowed)
}

// compare compares which callers were allowed with the page, and with the table.
func compare(t *testing.T, allowed map[string]map[string]bool) {
	t.Helper()
	var page strings.Builder
	for _, call := range slices.Sorted(maps.Keys(allowed)) {
		var who []string
		for name, ok := range allowed[call] {
			if ok {
				who = append(who, name)
			}
		}
		slices.Sort(who)
		fmt.Fprintf(&page, "%-45s %s\n", call, strings.Join(who, " "))
		if _, ok := access.NewTable()[call]; !ok {
			t.Errorf("%s has no row in the table", call)
		}
	}
	const file = "testdata/calls.txt"
	if *rewrite {
		if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if page.String() != string(want) {
		t.Errorf("who may call what has changed; if that is meant, run with -rewrite and read %s\n%s", file, page.String())
	}
	for call := range access.NewTable() {
		if _, tried := allowed[call]; !tried && !strings.HasPrefix(call, access.QueryPort) && !strings.HasPrefix(call, access.EventPort) {
			t.Errorf("the table has a row for %s, which no port has", call)
		}
	}
}

// methods returns the methods of all services.
func methods() (all []protoreflect.MethodDescriptor) {
	protoregistry.GlobalFiles.RangeFilesByPackage("adshard.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			for j := range f.Services().Get(i).Methods().Len() {
				all = append(all, f.Services().Get(i).Methods().Get(j))
			}
		}
		return true
	})
	return all
}

func fullName(m protoreflect.MethodDescriptor) string {
	return fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
}

// dial connects to a gRPC server until the test ends.
func (s *somebody) dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	creds := insecure.NewCredentials()
	if s.tls != nil {
		creds = credentials.NewTLS(s.tls)
	}
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// calls makes a call and reports whether it reached its handler, which is not implemented.
func (s *somebody) calls(t *testing.T, conn *grpc.ClientConn, m protoreflect.MethodDescriptor) (ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, reply := newMessage(t, m.Input()), newMessage(t, m.Output())
	for _, field := range []protoreflect.Name{"name", "master"} {
		if f := m.Input().Fields().ByName(field); f != nil {
			req.ProtoReflect().Set(f, protoreflect.ValueOfString(s.as))
		}
	}
	var err error
	if m.IsStreamingClient() {
		stream, e := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, fullName(m))
		if err = e; err == nil {
			err = stream.RecvMsg(reply)
		}
	} else {
		err = conn.Invoke(ctx, fullName(m), req, reply)
	}
	switch code := status.Code(err); code {
	case codes.Unimplemented:
		return true
	case codes.PermissionDenied, codes.Unavailable: // in the handshake
		return false
	default:
		t.Fatalf("%s as %s: %v", fullName(m), s.name, err)
		return false
	}
}

func newMessage(t *testing.T, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	of, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		t.Fatal(err)
	}
	return of.New().Interface()
}

// requests sends a request, and reports whether it was accepted from this sender.
func (s *somebody) requests(t *testing.T, c *http.Client, address, method, pattern string) bool {
	t.Helper()
	path := strings.NewReplacer("{id}", "1", "{name}", "slave-1", "{slice}", "1", "{action}", "pause", "{kind}", "campaigns").Replace(pattern)
	if strings.HasSuffix(path, "/profile") || strings.HasSuffix(path, "/trace") {
		path += "?seconds=1"
	}
	scheme := "https"
	if s.tls == nil {
		scheme = "http"
	}
	r, err := http.NewRequestWithContext(t.Context(), method, scheme+"://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", scheme+"://"+address) // as in forms of the console
	res, err := c.Do(r)
	if err != nil {
		return false // in the handshake
	}
	_ = res.Body.Close()
	plain := s.tls == nil && res.StatusCode == http.StatusBadRequest
	return !plain && res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func serveGRPC(t *testing.T, s *grpc.Server) string {
	l := listen(t)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// peerServer serves all services of the parts of a cluster.
func peerServer(t *testing.T, own *certs.Credentials) string {
	s := grpc.NewServer(wire.SlaveOptions(words.Default, nil, own.ServerOptions()...)...)
	pb.RegisterBalancerServer(s, pb.UnimplementedBalancerServer{})
	pb.RegisterDistributorServer(s, pb.UnimplementedDistributorServer{})
	pb.RegisterSlaveServer(s, pb.UnimplementedSlaveServer{})
	pb.RegisterCopiesServer(s, pb.UnimplementedCopiesServer{})
	return serveGRPC(t, s)
}

// queryServer serves a master's port for queries over gRPC, as in the first step of a switch to TLS.
func queryServer(t *testing.T, ca *certtest.Cluster) string {
	files := ca.Settings(certs.Both, access.Master, "m").TLS
	q := certs.QueryTLS{Mode: certs.Both, Cert: files.Cert, Key: files.Key}
	tls, err := q.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(wire.QueryOptions(nil, tls.ServerOptions()...)...)
	pb.RegisterMasterServer(s, pb.UnimplementedMasterServer{})
	return serveGRPC(t, s)
}

// adminServer serves the admin port of a cluster in one process, with all its calls.
func adminServer(t *testing.T, own *certs.Credentials) string {
	l := listen(t)
	h := admin.New(admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Control: admintest.NewControl(),
		Data: data.New(nodetest.NewDatabase(t).DB, nil, slog.New(slog.DiscardHandler)), Explain: http.NotFoundHandler(), Slow: http.NotFoundHandler(), Gate: own.Gate(), Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- httpapi.Serve(ctx, own.Admin(l), h) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// TestPortsForUsers: the table has a row for each operation of the ports for queries and events in the document, and no
// other rows of theirs.
func TestPortsForUsers(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	for tag, port := range map[string]string{"public": access.QueryPort, "events": access.EventPort} {
		var rows []string
		for call, rule := range access.NewTable() {
			if of, ok := strings.CutPrefix(call, port+" "); ok {
				rows = append(rows, of)
				if !rule.Anyone {
					t.Errorf("%s is not for all", call)
				}
			}
		}
		slices.Sort(rows)
		if want := d.Operations(tag); !slices.Equal(rows, want) {
			t.Errorf("the table has %q for the port of %s, which answers %q", rows, tag, want)
		}
	}
}

// TestNothingChangesByGet: readers may make only GET calls, and all other calls are for operators.
func TestNothingChangesByGet(t *testing.T) {
	for call, rule := range access.NewTable() {
		if !strings.HasPrefix(call, access.AdminPort) || call == access.SignIn || call == access.SignOut {
			continue
		}
		reads := strings.HasPrefix(call, access.AdminPort+" GET ")
		if !reads && !slices.Equal(rule.Roles, []access.Role{access.Operator}) {
			t.Errorf("%s is not for operators alone: %v", call, rule.Roles)
		}
	}
}
