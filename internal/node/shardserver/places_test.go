package shardserver_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/internal/node/shardserver"
	"adshard/internal/node/stream"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// slave serves a store over gRPC until the test's end.
func slave(t *testing.T, st shardserver.Store, limit int, o shardserver.Observer) (address string, s *shardserver.Server, server *grpc.Server) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = shardserver.New(self, st, kept{}, gate(limit), o, nil)
	server = grpc.NewServer(wire.SlaveOptions(words.Default, nil)...)
	pb.RegisterSlaveServer(server, s)
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Stop(); <-served; s.Close() })
	return listener.Addr().String(), s, server
}

// master opens a stream to a slave, on a connection of its own.
func master(t *testing.T, address string) *stream.Client { return masterOf(t, address, 1) }

// masterOf is master for a shard.
func masterOf(t *testing.T, address string, shard search.ShardID) *stream.Client {
	t.Helper()
	conn, err := wire.DialStream(address)
	if err != nil {
		t.Fatal(err)
	}
	c := stream.NewClient(stream.Config{Shard: shard, Name: self.Name, Times: stream.DefaultTimes(), Log: discard}, stream.Over(pb.NewSlaveClient(conn)))
	t.Cleanup(func() { c.Close(); _ = conn.Close() })
	for end := time.Now().Add(time.Minute); !c.Up(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("there is no stream")
		}
	}
	return c
}

func asks(ctx context.Context, c *stream.Client, r *search.Request) (*search.Answer, error) {
	left := time.Minute
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	var answer *search.Answer
	done := make(chan error, 1)
	ask := &wire.Ask{View: r.View, Left: left, Tags: r.Tags, Search: wire.AppendRequest(nil, r)}
	pending, err := c.Ask(ask, func(a *search.Answer, err error) { answer = a; done <- err })
	if err != nil {
		return nil, err
	}
	select {
	case err := <-done:
		return answer, err
	case <-ctx.Done():
		pending.GiveUp(ctx.Err())
		return nil, ctx.Err()
	}
}

func searchRequest(view uint64) *search.Request {
	return &search.Request{Query: &search.Query{}, Slots: 4, Profile: search.DefaultProfile(), View: view}
}

// tagged is a request of view 3 with tags.
func tagged(t search.Tags) *search.Request {
	r := searchRequest(3)
	r.Tags = t
	return r
}

// TestAStreamNamesItsShard: without one it would be answered by whatever slave is there.
func TestAStreamNamesItsShard(t *testing.T) {
	n := new(noted)
	address, _, _ := slave(t, &testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		return &search.Answer{Shard: r.Shard}, nil
	}}, 8, n)
	if _, err := asks(t.Context(), masterOf(t, address, 0), searchRequest(1)); !fault.Is(err, fault.Invalid) {
		t.Errorf("no shard: %v", err)
	}
	if a, err := asks(t.Context(), masterOf(t, address, 7), searchRequest(1)); err != nil || a.Shard != 7 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestStreamsShareThePlaces: one of 64 masters floods a slave; the others keep their places.
// Each of the others is let in, and the flood is refused at three quarters.
func TestStreamsShareThePlaces(t *testing.T) {
	const masters, limit = 64, 256
	hold, inside := make(chan struct{}), make(chan struct{}, limit)
	n := new(noted)
	address, _, _ := slave(t, &testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		inside <- struct{}{}
		<-hold
		return &search.Answer{View: r.View, WhyIncomplete: "x"}, nil
	}}, limit, n)
	var clients []*stream.Client
	for range masters {
		clients = append(clients, master(t, address))
	}
	var flood, others, low sync.WaitGroup
	results := make(chan error, 400)
	for range 400 {
		flood.Go(func() { _, err := asks(t.Context(), clients[0], searchRequest(3)); results <- err })
	}
	for range limit * 3 / 4 {
		<-inside
	}
	refused := 0
	for range 400 - limit*3/4 {
		if err := <-results; fault.Is(err, fault.Overloaded) {
			refused++
		}
	}
	if refused != 400-limit*3/4 {
		t.Errorf("%d of the flood refused", refused)
	}
	low.Go(func() {
		if _, err := asks(t.Context(), clients[1], tagged(search.Tags{Low: true})); !fault.Is(err, fault.Overloaded) {
			t.Errorf("low priority: %v", err)
		}
	})
	low.Wait()
	for _, c := range clients[1:] {
		others.Go(func() {
			if a, err := asks(t.Context(), c, searchRequest(3)); err != nil || a.View != 3 {
				t.Errorf("another master: %+v, %v", a, err)
			}
		})
	}
	for range masters - 1 {
		<-inside
	}
	close(hold)
	others.Wait()
	flood.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failed != refused+1 || n.searched != 400+masters {
		t.Errorf("observed %d, %d failed", n.searched, n.failed)
	}
}

// TestLocalSearchesHaveAPriority: one of low priority is refused once half of the places are
// taken, as an ask of a stream is.
func TestLocalSearchesHaveAPriority(t *testing.T) {
	const limit = 8
	hold, inside := make(chan struct{}), make(chan struct{}, limit)
	s := shardserver.New(self, &testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		inside <- struct{}{}
		<-hold
		return &search.Answer{View: r.View}, nil
	}}, kept{}, gate(limit), nil, nil)
	defer s.Close()
	call := func(tags search.Tags) error {
		r := asked()
		r.Tags = tags
		_, err := s.Local().Search(t.Context(), r)
		return err
	}
	var all sync.WaitGroup
	for range limit / 2 {
		all.Go(func() {
			if err := call(search.Tags{}); err != nil {
				t.Error(err)
			}
		})
		<-inside
	}
	if err := call(search.Tags{Low: true}); !fault.Is(err, fault.Overloaded) {
		t.Errorf("low priority: %v", err)
	}
	all.Go(func() {
		if err := call(search.Tags{Tenant: "acme"}); err != nil {
			t.Error(err)
		}
	})
	<-inside
	close(hold)
	all.Wait()
}

// TestAStopDoesNotWaitForStreams: a stream has no end of its own, and a graceful stop
// waits for whatever has not ended: it waits for the answers under way alone.
func TestAStopDoesNotWaitForStreams(t *testing.T) {
	inside := make(chan struct{})
	address, s, server := slave(t, &testStore{search: func(ctx context.Context, r *search.Request) (*search.Answer, error) {
		close(inside)
		time.Sleep(50 * time.Millisecond) // so that the stop waits for it; correct without, too
		return &search.Answer{View: r.View}, nil
	}}, 8, nil)
	c := master(t, address)
	answered := make(chan error, 1)
	go func() { _, err := asks(t.Context(), c, searchRequest(1)); answered <- err }()
	<-inside
	s.Goodbye()
	server.GracefulStop()
	if err := <-answered; err != nil {
		t.Errorf("what was under way: %v", err)
	}
}

// TestASlaveWithoutStreams: a slave without streams of another version is told apart from one
// that is not there.
func TestASlaveWithoutStreams(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other := grpc.NewServer(wire.SlaveOptions(words.Default, nil)...)
	service := pb.Slave_ServiceDesc
	service.Streams = nil
	other.RegisterService(&service, shardserver.New(self, &testStore{}, kept{}, gate(8), nil, nil))
	go func() { _ = other.Serve(listener) }()
	defer other.Stop()
	conn, err := wire.DialStream(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pipe, err := stream.Over(pb.NewSlaveClient(conn))(ctx)
	if err == nil {
		_, err = pipe.Receive()
	}
	if !fault.Is(err, fault.Version) {
		t.Error(err)
	}
}
