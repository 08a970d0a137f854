package remote

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

// candidate is a balancer that leads with an epoch, or does not lead if that is 0. It can be made
// to hang.
type candidate struct {
	pb.UnimplementedBalancerServer
	epoch   atomic.Uint64
	hangs   atomic.Bool
	ended   chan struct{}
	address string
}

func startCandidate(t *testing.T) *candidate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &candidate{ended: make(chan struct{}), address: l.Addr().String()}
	server := grpc.NewServer(wire.ControlOptions(words.Default, nil)...)
	pb.RegisterBalancerServer(server, c)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { close(c.ended); server.Stop() })
	return c
}

func (c *candidate) wait(ctx context.Context) error {
	if c.hangs.Load() { // even after its caller has gone
		<-c.ended
	}
	if c.epoch.Load() == 0 {
		return fault.Newf(fault.Unavailable, "test", "it stands by")
	}
	return ctx.Err()
}

func (c *candidate) Lead(ctx context.Context, _ *pb.LeadRequest) (*pb.LeadResponse, error) {
	return &pb.LeadResponse{Epoch: c.epoch.Load()}, c.wait(ctx)
}

func (c *candidate) WatchMap(ctx context.Context, _ *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	return &pb.WatchMapResponse{Epoch: c.epoch.Load()}, c.wait(ctx)
}

func find(t *testing.T, list ...*candidate) *Leader {
	t.Helper()
	var addresses []string
	for _, c := range list {
		addresses = append(addresses, c.address)
	}
	l, err := Find(strings.Join(addresses, ", "), words.Default, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// watch requests the map and returns the epoch of the balancer that answers.
func watch(t *testing.T, l *Leader, within time.Duration) (uint64, error) {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	r, err := l.WatchMap(ctx, &pb.WatchMapRequest{})
	return r.GetEpoch(), err
}

// follows waits until a leader with the given epoch is asked.
func follows(t *testing.T, l *Leader, epoch uint64) {
	t.Helper()
	var last error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var got uint64
		if got, last = watch(t, l, time.Minute); last == nil && got == epoch {
			return
		}
	}
	t.Fatalf("the leader with epoch %d is not found: %v", epoch, last)
}

// TestTheLeaderIsFound: the leader is found wherever it is in the list. If two balancers believe
// that they lead, the later one is used.
func TestTheLeaderIsFound(t *testing.T) {
	a, b, c := startCandidate(t), startCandidate(t), startCandidate(t)
	l := find(t, a, b, c)
	if _, err := watch(t, l, time.Minute); !fault.Is(err, fault.Unavailable) {
		t.Errorf("nobody leads: %v", err)
	}
	b.epoch.Store(3)
	follows(t, l, 3)
	c.epoch.Store(5)
	follows(t, l, 5)
	b.epoch.Store(0)
	c.epoch.Store(4) // of a restored database
	follows(t, l, 4)
}

// TestALeaderThatHangs: a leader that hangs delays no call as soon as another one leads.
func TestALeaderThatHangs(t *testing.T) {
	a, b := startCandidate(t), startCandidate(t)
	a.epoch.Store(1)
	l := find(t, a, b)
	follows(t, l, 1)
	a.hangs.Store(true)
	hanging := make(chan error, 1)
	go func() { _, err := watch(t, l, time.Hour); hanging <- err }()
	b.epoch.Store(2)
	if err := <-hanging; !fault.Is(err, fault.Unavailable) {
		t.Errorf("a call that hung: %v", err)
	}
	follows(t, l, 2)
	patient, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if i, epoch, ok := l.ask(patient, 1); i != 1 || epoch != 2 || !ok || patient.Err() != nil {
		t.Errorf("beside one that hangs %d leads with %d: %v, %v", i, epoch, ok, patient.Err())
	}
	a.hangs.Store(false) // it continues
	follows(t, l, 2)
}
