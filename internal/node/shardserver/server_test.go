package shardserver_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/barrels"
	"adshard/barrels/certify"
	"adshard/fault"
	"adshard/internal/node/overload"
	"adshard/internal/node/shardserver"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var discard = slog.New(slog.DiscardHandler)

// gate returns a gate with the given number of places, all of them for searches that run.
func gate(n int) *overload.Gate { return overload.New(overload.Config{Most: n, Least: n, Start: n}) }

var self = shardserver.Identity{Name: "slave-0", Incarnation: "secret"}

type testStore struct {
	search func(context.Context, *search.Request) (*search.Answer, error)
	limit  int
}

func (s *testStore) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	return s.search(ctx, r)
}

func (s *testStore) Explain(_ context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	s.limit = limit
	_, err := s.search(context.Background(), r)
	return &search.Explanation{Total: 3}, err
}

func (s *testStore) Position() *pb.Position { return &pb.Position{Epoch: 3, Clock: 7} }
func (s *testStore) Slices() *pb.SliceTable {
	held := &pb.HeldSlice{Id: 3, Lo: 1, Hi: 9, Generation: 6, From: 2}
	return &pb.SliceTable{View: 5, Slices: []*pb.HeldSlice{held}, Shards: []*pb.Shard{{Name: "a", Replicas: []*pb.Replica{{Name: "a", Address: "a.example:1"}}}, {Name: "b"}}}
}

func (s *testStore) Certify(_ context.Context, lo, hi, bins uint64, parents []barrels.Parent) (*barrels.Certificate, error) {
	if s.search != nil {
		if _, err := s.search(context.Background(), nil); err != nil {
			return nil, err
		}
	}
	c := &barrels.Certificate{Clock: 7, Held: lo < 100, Builder: 4, Items: hi - lo, Bytes: bins}
	for _, p := range parents {
		c.Parents = append(c.Parents, barrels.ParentSum{Parent: p, Hi: 8, Lo: 9})
	}
	c.Bins[3] = certify.Sum{Count: 1, Hi: 2, Lo: 3}
	return c, nil
}

// kept is the upkeep of a store that lacks something, or nothing.
type kept struct {
	lacking   string
	discarded *[]string
}

func (k kept) WhyIncomplete() string { return k.lacking }
func (k kept) Lag() time.Duration    { return 7 * time.Second }
func (k kept) Discard(lo, hi uint64, why string) {
	*k.discarded = append(*k.discarded, fmt.Sprint(lo, " to ", hi, ": ", why))
}

type noted struct {
	mu               sync.Mutex
	searched, failed int
	panicked         int
}

func (n *noted) Searched(_ time.Duration, _ string, _ *search.Answer, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.searched++
	if err != nil {
		n.failed++
	}
}
func (n *noted) Panicked(any) { n.panicked++ }

func request() *pb.SearchRequest {
	return wire.FromRequest(&search.Request{Query: &search.Query{}, Slots: 4, Profile: search.DefaultProfile(), View: 9, Shard: 1})
}

func TestTellsTheMapThatItWasTold(t *testing.T) {
	m, err := shardserver.New(self, &testStore{}, kept{}, gate(1), nil, nil).Map(t.Context(), &pb.MapRequest{})
	if err != nil || m.GetEpoch() != 3 || m.GetView() != 5 || len(m.GetShards()) != 2 || m.GetShards()[0].GetReplicas()[0].GetAddress() != "a.example:1" {
		t.Fatalf("%v, %v", m, err)
	}
}

// TestAnotherInstance: a request to explain for a slave that was here before, or for what its
// directory held before it was emptied, is refused at once; searches name it in the hello of
// their stream.
func TestAnotherInstance(t *testing.T) {
	st := &testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		return &search.Answer{View: r.View}, nil
	}}
	for _, c := range []struct {
		own, wanted uint64
		refused     bool
	}{{5, 5, false}, {5, 0, false}, {0, 7, false}, {5, 7, true}} {
		s := shardserver.New(shardserver.Identity{Name: "slave-0", Instance: c.own}, st, kept{}, gate(2), nil, nil)
		r := request()
		r.Instance = c.wanted
		if _, err := s.Explain(t.Context(), &pb.ExplainRequest{Request: r}); fault.Is(err, fault.Conflict) != c.refused || !c.refused && err != nil {
			t.Errorf("%x asked as %x: %v", c.own, c.wanted, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	n := new(noted)
	st := &testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		return &search.Answer{View: r.View, Matched: 7}, nil
	}}
	s := shardserver.New(self, st, kept{}, gate(2), n, nil)
	for range 5 { // places are given back
		reply, err := s.Local().Search(t.Context(), asked())
		if err != nil || reply.View != 9 || reply.Matched != 7 {
			t.Fatalf("%v, %v", reply, err)
		}
		e, err := s.Explain(t.Context(), &pb.ExplainRequest{Request: request(), Limit: 1 << 30})
		if err != nil || e.GetTotal() != 3 || st.limit != shardserver.MaxExplained {
			t.Fatalf("%v, %v, limit %d", e, err, st.limit)
		}
	}
	if n.searched != 5 || n.failed != 0 {
		t.Fatalf("%+v", n)
	}
}

func TestRefusesBeyondTheLimitAtOnce(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	n := new(noted)
	s := shardserver.New(self, &testStore{search: func(context.Context, *search.Request) (*search.Answer, error) {
		inside <- struct{}{}
		<-leave
		return &search.Answer{}, nil
	}}, kept{}, gate(2), n, nil)
	var searches sync.WaitGroup
	for range 2 {
		searches.Go(func() { _, _ = s.Local().Search(context.Background(), asked()) })
		<-inside
	}
	if _, err := s.Local().Search(t.Context(), asked()); !fault.Is(err, fault.Overloaded) {
		t.Errorf("search: %v", err)
	}
	if _, err := s.Explain(t.Context(), &pb.ExplainRequest{Request: request()}); !fault.Is(err, fault.Overloaded) {
		t.Errorf("explain: %v", err)
	}
	close(leave)
	searches.Wait()
	if n.searched != 3 || n.failed != 1 {
		t.Errorf("%+v", n)
	}
}

func TestAPanicIsAFaultAndGivesItsPlaceBack(t *testing.T) {
	n := new(noted)
	s := shardserver.New(self, &testStore{search: func(context.Context, *search.Request) (*search.Answer, error) { panic("boom") }}, kept{}, gate(1), n, nil)
	for range 3 {
		if _, err := s.Local().Search(t.Context(), asked()); !fault.Is(err, fault.Internal) {
			t.Fatal(err)
		}
		if _, err := s.Explain(t.Context(), &pb.ExplainRequest{Request: request()}); !fault.Is(err, fault.Internal) {
			t.Fatal(err)
		}
	}
	if n.panicked != 6 || n.failed != 3 {
		t.Fatalf("%+v", n)
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	stale := fault.New(fault.Stale, "store", errors.New("view 9 is over"))
	s := shardserver.New(self, &testStore{search: func(context.Context, *search.Request) (*search.Answer, error) { return nil, stale }}, kept{}, gate(1), nil, nil)
	if _, err := s.Local().Search(t.Context(), asked()); !fault.Is(err, fault.Stale) {
		t.Fatal(err)
	}
	if _, err := s.Explain(t.Context(), &pb.ExplainRequest{}); !fault.Is(err, fault.Invalid) {
		t.Fatal(err)
	}
}

func TestCertifies(t *testing.T) {
	s := shardserver.New(self, &testStore{}, kept{}, gate(1), nil, nil)
	c, err := s.Certify(t.Context(), &pb.CertifyRequest{Lo: 10, Hi: 15, Clock: 7, Bins: 9})
	if err != nil || c.GetClock() != 7 || c.GetItems() != 5 || c.GetBytes() != 9 || len(c.GetCounts()) != 64 ||
		c.GetCounts()[3] != 1 || c.GetHashHi()[3] != 2 || c.GetHashLo()[3] != 3 {
		t.Fatalf("%v, %v", c, err)
	}
	c, err = s.Certify(t.Context(), &pb.CertifyRequest{Parents: []*pb.ParentName{{Kind: 2, Id: 5}, {Kind: 1, Id: 6}}})
	if p := c.GetParents(); err != nil || len(p) != 2 || p[0].GetKind() != 2 || p[0].GetId() != 5 || p[1].GetKind() != 1 ||
		p[0].GetHashHi() != 8 || p[0].GetHashLo() != 9 || c.GetBuilder() != 4 {
		t.Fatalf("%v, %v", c, err)
	}
	if _, err := s.Certify(t.Context(), &pb.CertifyRequest{Lo: 100, Hi: 200}); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("what is not held: %v", err)
	}
	if _, err := s.Certify(t.Context(), &pb.CertifyRequest{Hi: 15, Database: "another"}); !fault.Is(err, fault.Conflict) {
		t.Fatalf("of another database: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Certify(ctx, &pb.CertifyRequest{Clock: 8}); !fault.Is(err, fault.Deadline) {
		t.Fatalf("a clock that is not reached: %v", err)
	}
}

// TestDiscardsOnlyWhatIsThere: an order with another generation or interval is about something
// else.
func TestDiscardsOnlyWhatIsThere(t *testing.T) {
	var discarded []string
	s := shardserver.New(self, &testStore{}, kept{discarded: &discarded}, gate(1), nil, nil)
	for _, m := range []*pb.DiscardRequest{{Lo: 1, Hi: 9, Generation: 5, Incarnation: "secret"},
		{Lo: 1, Hi: 8, Generation: 6, Incarnation: "secret"}, {Incarnation: "secret"}} {
		if _, err := s.Discard(t.Context(), m); !fault.Is(err, fault.Stale) {
			t.Errorf("%v: %v", m, err)
		}
	}
	if _, err := s.Discard(t.Context(), &pb.DiscardRequest{Lo: 1, Hi: 9, Generation: 6, Reason: "it differs"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := s.Discard(t.Context(), &pb.DiscardRequest{Lo: 1, Hi: 9, Generation: 6, Reason: "it differs", Incarnation: "secret"}); err != nil {
		t.Fatal(err)
	}
	if len(discarded) != 1 || discarded[0] != "1 to 9: it differs" {
		t.Errorf("%q", discarded)
	}
}

// TestAnswersSayWhatIsLacking: why the slave serves less than its map gives it.
func TestAnswersSayWhatIsLacking(t *testing.T) {
	st := &testStore{search: func(context.Context, *search.Request) (*search.Answer, error) { return &search.Answer{}, nil }}
	for _, why := range []string{"", "slice 7 is not served"} {
		reply, err := shardserver.New(self, st, kept{lacking: why}, gate(1), nil, nil).Local().Search(t.Context(), asked())
		if err != nil || reply.WhyIncomplete != why {
			t.Errorf("%v, %v", reply, err)
		}
	}
}

func TestIsAdopted(t *testing.T) {
	s := shardserver.New(self, &testStore{}, kept{}, gate(1), nil, func(balancer string) (string, error) {
		if balancer != "b.example:1" {
			return "", fault.Newf(fault.Conflict, "slave: adopt", "another one")
		}
		return "slave-9", nil
	})
	reply, err := s.Adopt(t.Context(), &pb.AdoptRequest{Balancer: "b.example:1"})
	if err != nil || reply.GetName() != "slave-9" {
		t.Fatalf("%v, %v", reply, err)
	}
	if _, err := s.Adopt(t.Context(), &pb.AdoptRequest{Balancer: "c.example:1"}); !fault.Is(err, fault.Conflict) {
		t.Fatal(err)
	}
}
