package processtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
	"adshard/internal/node/master"
	"adshard/internal/node/porttest"
	"adshard/internal/node/stream"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// secured is a cluster in which TLS is turned on while it runs.
type secured struct {
	*cluster
	ca *certtest.Cluster
	m  master.Config
}

// roll restarts one process after the other with a TLS mode, and waits after each one until answers are complete again.
func (s *secured) roll(mode string) {
	s.t.Helper()
	use := func(own *certs.Settings, role access.Role, name string) {
		if mode != certs.Off {
			own.TLS = s.ca.Settings(mode, role, name).TLS
		}
	}
	stop := func(name string) {
		if p := s.parts[name]; p != nil {
			p.stop()
		}
	}
	for i := range s.slave {
		stop(s.slave[i].Name)
		use(&s.slave[i].Settings, access.Slave, s.slave[i].Name)
		s.startSlave(i)
	}
	stop("balancer")
	use(&s.cfg.Settings, access.Balancer, "balancer-0")
	s.startBalancer()
	if s.master != nil {
		s.world.follows("http://" + s.m.HTTP) // the slaves are new, the master is not
		s.master.stop()
	}
	use(&s.m.Settings, access.Master, s.m.Name)
	s.master = start(s.t, "master", s.m)
	s.master.line("master listening ")
	s.world.follows("http://" + s.m.HTTP)
}

// newSecured starts a cluster and goes through the modes one after the other.
func newSecured(t *testing.T, modes ...string) *secured {
	t.Helper()
	w := newWorld(t, 30)
	s := &secured{cluster: newCluster(t, w), ca: certtest.New(t), m: master.DefaultConfig()}
	s.m.HTTP, s.m.Admin, s.m.Balancer = porttest.Address(t), "", s.cfg.Listen
	for i := range s.slave {
		s.slave[i].Listen = porttest.Address(t)
	}
	for i, mode := range modes {
		s.roll(mode)
		w.write(i, i+3)
		w.follows("http://" + s.m.HTTP)
	}
	return s
}

// TestTLSIsTurnedOnInTwoRolls: the cluster continues in each state, and its answers are correct. Afterwards no caller is
// accepted without a certificate or with a certificate of a wrong role.
func TestTLSIsTurnedOnInTwoRolls(t *testing.T) {
	t.Parallel()
	s := newSecured(t, certs.Off, certs.Both, certs.Required)
	s.world.compare("http://" + s.m.HTTP)
	s.attack()
	s.world.follows("http://" + s.m.HTTP)
	s.world.compare("http://" + s.m.HTTP)
}

// attack tries everything that a certificate of each wrong role might allow.
func (s *secured) attack() {
	s.t.Helper()
	position := &pb.Position{Epoch: 1 << 40, Clock: 1 << 40}
	slave, balancer := s.slave[0].Listen, s.cfg.Listen
	for _, c := range []struct {
		what string
		who  access.Identity // the field Cluster is not used
		to   string
		call func(ctx context.Context, conn *grpc.ClientConn) error
	}{
		{"registers as another", id(access.Slave, "slave-1"), balancer, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewBalancerClient(c).Register(ctx, &pb.RegisterRequest{Name: "slave-0", Address: "127.0.0.1:1", Incarnation: "x", Position: position})
			return err
		}},
		{"registers", id(access.Master, "slave-0"), balancer, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewBalancerClient(c).Register(ctx, &pb.RegisterRequest{Name: "slave-0", Address: "127.0.0.1:1", Incarnation: "x", Position: position})
			return err
		}},
		{"reports for another", id(access.Slave, "slave-1"), balancer, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewBalancerClient(c).Report(ctx, &pb.ReportRequest{Name: "slave-0", Position: position})
			return err
		}},
		{"pulls another's data", id(access.Slave, "slave-1"), balancer, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewDistributorClient(c).Enlist(ctx, &pb.RegisterRequest{Name: "slave-0", Address: "127.0.0.1:1"})
			return err
		}},
		{"pulls all data", id(access.Reader, "slave-0"), balancer, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewDistributorClient(c).Pull(ctx, &pb.PullRequest{Name: "slave-0", WaitMs: 1})
			return err
		}},
		{"distributes", id(access.Slave, "slave-1"), balancer, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewBalancerClient(c).Quanta(ctx, &pb.QuantaRequest{Name: "slave-1", Address: "127.0.0.1:1"})
			return err
		}},
		{"keeps old views", id(access.Slave, "slave-1"), balancer, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewBalancerClient(c).WatchMap(ctx, &pb.WatchMapRequest{Master: "slave-1/x"})
			return err
		}},
		{"discards", id(access.Master, "master-0"), slave, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewSlaveClient(c).Discard(ctx, &pb.DiscardRequest{Hi: 1<<64 - 1})
			return err
		}},
		{"adopts", id(access.Operator, "alice"), slave, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewSlaveClient(c).Adopt(ctx, &pb.AdoptRequest{Balancer: "127.0.0.1:1"})
			return err
		}},
		{"searches a slave", id(access.Slave, "slave-1"), slave, func(ctx context.Context, c *grpc.ClientConn) error {
			pipe, err := stream.Over(pb.NewSlaveClient(c))(ctx)
			if err == nil {
				_, err = pipe.Receive()
			}
			return err
		}},
		{"copies a store", id(access.Distributor, "d"), slave, func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := pb.NewCopiesClient(c).Open(ctx, &pb.OpenCopyRequest{Name: "d", Token: "x"})
			return err
		}},
	} {
		if err := s.call(c.who, c.to, c.call); !fault.Is(err, fault.Forbidden) {
			s.t.Errorf("a %s %s: %v", c.who, c.what, err)
		}
	}
	s.copied()
	s.withoutACertificate(slave, balancer)
}

// call makes a call with the certificate of the given program.
func (s *secured) call(who access.Identity, to string, call func(context.Context, *grpc.ClientConn) error) error {
	s.t.Helper()
	own := s.ca.Open(certs.Required, who.Role, who.Name)
	conn, err := wire.Dial(to, own.To("", access.Slave, access.Balancer)...)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	return call(ctx, conn)
}

// copied checks that the incarnation of a slave, copied for example from the balancer's memory, is useless without the
// slave's certificate. With the certificate, the caller is the slave.
func (s *secured) copied() {
	s.t.Helper()
	const real = "the real incarnation"
	name, slave := s.slave[0].Name, s.slave[0].Listen
	s.parts[name].stop()
	must := func(call func(context.Context, *grpc.ClientConn) error) {
		s.t.Helper()
		if err := s.call(id(access.Slave, name), s.cfg.Listen, call); err != nil {
			s.t.Fatal(err)
		}
	}
	var epoch uint64
	must(func(ctx context.Context, c *grpc.ClientConn) error {
		r := &pb.RegisterRequest{Name: name, Address: slave, Incarnation: real, Position: &pb.Position{}, Slices: &pb.SliceTable{}}
		reply, err := pb.NewBalancerClient(c).Register(ctx, r)
		epoch = reply.GetEpoch()
		return err
	})
	report := func(ctx context.Context, c *grpc.ClientConn) error {
		_, err := pb.NewBalancerClient(c).Report(ctx, &pb.ReportRequest{Name: name, Incarnation: real, Epoch: epoch, Position: &pb.Position{}, Slices: &pb.SliceTable{}})
		return err
	}
	register := func(ctx context.Context, c *grpc.ClientConn) error {
		_, err := pb.NewBalancerClient(c).Register(ctx, &pb.RegisterRequest{Name: name, Address: "127.0.0.1:2", Incarnation: real, Position: &pb.Position{}, Slices: &pb.SliceTable{}})
		return err
	}
	pull := func(ctx context.Context, c *grpc.ClientConn) error {
		_, err := pb.NewDistributorClient(c).Pull(ctx, &pb.PullRequest{Name: name, Incarnation: real, Epoch: epoch, WaitMs: 1})
		return err
	}
	for _, who := range []access.Identity{id(access.Slave, s.slave[1].Name), id(access.Master, name), id(access.Distributor, name), id(access.Operator, name)} {
		for what, call := range map[string]func(context.Context, *grpc.ClientConn) error{"report": report, "register": register, "pull": pull} {
			if err := s.call(who, s.cfg.Listen, call); !fault.Is(err, fault.Forbidden) {
				s.t.Errorf("a %s has the incarnation of %s, and may %s: %v", who, name, what, err)
			}
		}
	}
	must(report)
	s.startSlave(0)
}

func id(role access.Role, name string) access.Identity {
	return access.Identity{Role: role, Name: name}
}

// withoutACertificate checks that plain calls are refused.
func (s *secured) withoutACertificate(addresses ...string) {
	s.t.Helper()
	for _, address := range addresses {
		conn, err := wire.Dial(address)
		if err != nil {
			s.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(s.t.Context(), patience)
		if _, err := pb.NewSlaveClient(conn).Map(ctx, &pb.MapRequest{}); !fault.Is(err, fault.Unavailable) {
			s.t.Errorf("a plain call: %v", err)
		}
		cancel()
		_ = conn.Close()
	}
}

// TestTheAdminPortKnowsItsCallers: readers may read and operators may make changes; others may do neither.
func TestTheAdminPortKnowsItsCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	c := newCluster(t, w)
	ca := certtest.New(t)
	c.cfg.Settings = ca.Settings(certs.Required, access.Balancer, "balancer-0")
	const look, change = "0123456789-0123456789-look", "0123456789-0123456789-change"
	c.cfg.Tokens = ca.Write("tokens", []byte("reader prometheus "+look+"\noperator alice "+change+"\n"))
	c.startBalancer()
	roots := x509.NewCertPool()
	text, err := os.ReadFile(ca.CA())
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	for _, q := range []struct {
		token, role, method, path string
		status                    int
	}{
		{"", "", "GET", "/readyz", 503}, {"", "", "GET", "/v1/slaves", 401}, {"", "", "GET", "/metrics", 401}, {"", "", "POST", "/v1/balance/pause", 401},
		{look, "", "GET", "/v1/slaves", 200}, {look, "", "GET", "/metrics", 200}, {look, "", "POST", "/v1/balance/pause", 403},
		{look, "", "GET", "/debug/pprof/cmdline", 403},
		{change, "", "POST", "/v1/balance/pause", 200}, {look + "x", "", "GET", "/v1/slaves", 401},
		{"", "reader", "GET", "/v1/balance", 200}, {"", "reader", "POST", "/v1/balance/resume", 403},
		{"", "operator", "POST", "/v1/balance/resume", 200}, {"", "slave", "GET", "/v1/slaves", 403}, {"", "balancer", "POST", "/v1/balance/pause", 403},
	} {
		config := &tls.Config{RootCAs: roots}
		if q.role != "" {
			pair := ca.Pair(access.Role(q.role), "one", time.Hour)
			own, err := tls.X509KeyPair(pair.Cert, pair.Key)
			if err != nil {
				t.Fatal(err)
			}
			config.Certificates = []tls.Certificate{own}
		}
		client := http.Client{Transport: &http.Transport{TLSClientConfig: config}, Timeout: patience}
		r, err := http.NewRequestWithContext(t.Context(), q.method, c.admin+q.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if q.token != "" {
			r.Header.Set("Authorization", "Bearer "+q.token)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		client.CloseIdleConnections()
		if err != nil || res.StatusCode != q.status {
			t.Errorf("%+v: %d %s %v", q, res.StatusCode, body, err)
		}
		if e := struct{ Error struct{ Code string } }{}; res.StatusCode == 401 && (json.Unmarshal(body, &e) != nil || e.Error.Code != "unauthenticated") {
			t.Errorf("%+v: %s", q, body)
		}
		if strings.Contains(string(body), look) || strings.Contains(string(body), change) {
			t.Errorf("%+v shows a token", q)
		}
	}
}
