package copying

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

func TestMain(m *testing.M) {
	if os.Getenv(childDir) != "" {
		os.Exit(child())
	}
	goleak.VerifyTestMain(m)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

const groups = 300

// slaveRig is a slave whose store is copied. All of its answers show its clock.
type slaveRig struct {
	t     *testing.T
	dir   string
	store barrels.Store
	world *pb.NodeData
	cfg   SourceConfig
	holds atomic.Int64 // current holds of the log
	lacks string
}

// newSlave returns a slave whose store has several pieces and is at the given clock.
func newSlave(t *testing.T, clock uint64) *slaveRig {
	t.Helper()
	r := &slaveRig{t: t, dir: filepath.Join(t.TempDir(), "source")}
	r.store = openStore(t, r.dir)
	t.Cleanup(func() { _ = r.store.Close() })
	r.world = barreltest.NewBuilder(t, barreltest.Small(groups, "usb cable", "red shoes")).All()
	if err := r.store.Apply(t.Context(), r.world); err != nil {
		t.Fatal(err)
	}
	r.advance(clock)
	r.cfg = DefaultSource("slave-0", r.dir)
	r.cfg.Room, r.cfg.Pause, r.cfg.Rate = 1, 0, 0
	return r
}

func openStore(t testing.TB, dir string) barrels.Store {
	t.Helper()
	db, err := rocks.Open(dir, rocks.Options{WriteBufferBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := barrels.Open(db, barrels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// advance applies changes until the store is at a clock.
func (r *slaveRig) advance(clock uint64) {
	r.t.Helper()
	for at := r.store.Position().Clock; at < clock; {
		at++
		if err := r.store.Apply(context.Background(), barreltest.Bulky(r.world, at)); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *slaveRig) Hold() func() {
	r.holds.Add(1)
	return func() { r.holds.Add(-1) }
}

func (r *slaveRig) WhyIncomplete() string { return r.lacks }

// source starts a source for the slave's store, as after a restart.
func (r *slaveRig) source() *Source {
	r.t.Helper()
	s, err := NewSource(r.cfg, r.store, r, quiet())
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// serve serves a source over gRPC and returns its address.
func serve(t *testing.T, s pb.CopiesServer) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(wire.SlaveOptions(words.Default, nil)...)
	pb.RegisterCopiesServer(g, s)
	var done sync.WaitGroup
	done.Go(func() { _ = g.Serve(l) })
	t.Cleanup(func() { g.Stop(); done.Wait() })
	return l.Addr().String()
}

// dial returns a client of the source at an address.
func dial(t *testing.T, address string) pb.CopiesClient {
	t.Helper()
	conn, err := wire.DialStream(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return pb.NewCopiesClient(conn)
}

// config returns the configuration of a slave to be filled, with enough patience for a busy
// machine.
func config(dir string) Config {
	c := DefaultConfig("slave-1", dir, quiet())
	c.Room, c.CallTimeout, c.Patience = 1, time.Minute, 3*time.Minute
	return c
}

// fill fills a directory, and fails the test if it cannot.
func fill(t *testing.T, cfg Config, source pb.CopiesClient) *Result {
	t.Helper()
	r, err := Fill(t.Context(), cfg, source)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check opens a filled directory and checks that it is at a clock and has all data, and that no
// other files are left.
func check(t *testing.T, dir string, clock uint64) {
	t.Helper()
	s := openStore(t, dir)
	defer s.Close()
	checkStore(t, s, clock)
	for _, name := range []string{"incoming", "complete", "placing", tokenFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left behind", name)
		}
	}
}

// checkStore sets the views of a copy as a balancer would, and checks its answers.
func checkStore(t *testing.T, s barrels.Store, clock uint64) {
	t.Helper()
	for _, h := range s.Slices().GetSlices() {
		if h.From != 0 {
			t.Fatalf("the copy serves before it may: %v", h)
		}
	}
	if !s.Slices().GetSpare() {
		t.Fatal("the copy answers for a shard before it may")
	}
	at := s.Position()
	if at.GetClock() != clock {
		t.Fatalf("the copy is at %v, want clock %d", at, clock)
	}
	if err := s.Apply(t.Context(), &pb.NodeData{From: at, To: at, Slices: barreltest.WholeRing()}); err != nil {
		t.Fatal(err)
	}
	barreltest.SameClock(t, s, groups, clock)
	if n := s.Stats().Groups; n != groups {
		t.Fatalf("%d groups", n)
	}
}

// tampered is a source whose calls a test can change. A nil function changes nothing.
type tampered struct {
	pb.CopiesClient
	open func(*pb.OpenCopyResponse, error) (*pb.OpenCopyResponse, error)
	sums func(*pb.CopySumsResponse, error) (*pb.CopySumsResponse, error)
	read func(*pb.ReadCopyRequest, *pb.ReadCopyResponse, error) (*pb.ReadCopyResponse, error)
	// before is called before each call with the call's number, which starts at 0.
	before func(n int) error
	calls  atomic.Int64
}

func (c *tampered) begin() error {
	n := int(c.calls.Add(1)) - 1
	if c.before == nil {
		return nil
	}
	return c.before(n)
}

func (c *tampered) Open(ctx context.Context, r *pb.OpenCopyRequest, o ...grpc.CallOption) (*pb.OpenCopyResponse, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	m, err := c.CopiesClient.Open(ctx, r, o...)
	if c.open != nil {
		return c.open(m, err)
	}
	return m, err
}

func (c *tampered) Sums(ctx context.Context, r *pb.CopySumsRequest, o ...grpc.CallOption) (*pb.CopySumsResponse, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	m, err := c.CopiesClient.Sums(ctx, r, o...)
	if c.sums != nil {
		return c.sums(m, err)
	}
	return m, err
}

func (c *tampered) Read(ctx context.Context, r *pb.ReadCopyRequest, o ...grpc.CallOption) (*pb.ReadCopyResponse, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	m, err := c.CopiesClient.Read(ctx, r, o...)
	if c.read != nil {
		return c.read(r, m, err)
	}
	return m, err
}

func (c *tampered) Release(ctx context.Context, r *pb.ReleaseCopyRequest, o ...grpc.CallOption) (*pb.ReleaseCopyResponse, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	return c.CopiesClient.Release(ctx, r, o...)
}
