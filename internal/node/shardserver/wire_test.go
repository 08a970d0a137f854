package shardserver_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/stream"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/display"
)

// TestMessagesAtTheSizeLimitOverGRPC: what a stream takes gRPC carries, in both directions,
// and the stream goes on.
func TestMessagesAtTheSizeLimitOverGRPC(t *testing.T) {
	if testing.Short() {
		t.Skip("short: copies messages of many megabytes")
	}
	const piece = 24 << 20
	address, _, _ := slave(t, &testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		a := &search.Answer{View: r.View}
		for range r.View {
			a.Hits = append(a.Hits, search.Hit{Display: display.Pieces{Keyword: make([]byte, piece)}})
		}
		return a, nil
	}}, 8, nil)
	c := master(t, address)
	if a, err := asks(t.Context(), c, searchRequest(2)); err != nil || len(a.Hits) != 2 || len(a.Hits[1].Display.Keyword) != piece {
		t.Errorf("an answer of %d bytes: %v", 2*piece, err)
	}
	if _, err := asks(t.Context(), c, searchRequest(3)); !fault.Is(err, fault.Internal) {
		t.Errorf("an answer of %d bytes: %v", 3*piece, err)
	}
	failed := make(chan error, 1)
	largest := make([]byte, wire.MaxSearch-64<<10) // not a request
	if _, err := c.Ask(&wire.Ask{Left: 10 * time.Second, Search: largest}, func(_ *search.Answer, err error) { failed <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !fault.Is(err, fault.Invalid) {
		t.Errorf("an ask of %d bytes: %v", len(largest), err)
	}
	if a, err := asks(t.Context(), c, searchRequest(0)); err != nil || !c.Up() {
		t.Errorf("afterwards: %+v, %v", a, err)
	}
}

// TestAMasterThatDiesOverGRPC: a master that dies over gRPC with a thousand searches under way:
// they end when its connection does, and others get their places.
func TestAMasterThatDiesOverGRPC(t *testing.T) {
	const searches = 1000
	var under atomic.Int64
	inside := make(chan struct{}, searches)
	address, _, _ := slave(t, &testStore{search: func(ctx context.Context, r *search.Request) (*search.Answer, error) {
		if r.View == 0 {
			return &search.Answer{}, nil
		}
		under.Add(1)
		defer under.Add(-1)
		inside <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}, 2*searches, nil)
	conn, err := wire.DialStream(address)
	if err != nil {
		t.Fatal(err)
	}
	dying := stream.NewClient(stream.Config{Shard: 1, Name: self.Name, Times: stream.DefaultTimes(), Log: discard}, stream.Over(pb.NewSlaveClient(conn)))
	defer dying.Close()
	for !dying.Up() {
		time.Sleep(time.Millisecond)
	}
	failed := make(chan error, searches)
	ask := wire.AppendRequest(nil, searchRequest(0))
	for range searches {
		if _, err := dying.Ask(&wire.Ask{View: 1, Left: time.Minute, Search: ask}, func(_ *search.Answer, err error) { failed <- err }); err != nil {
			t.Fatal(err)
		}
	}
	for range searches {
		<-inside
	}
	_ = conn.Close()
	for range searches {
		if err := <-failed; !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
	}
	other := master(t, address)
	for end := time.Now().Add(time.Minute); under.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d searches go on", under.Load())
		}
	}
	if _, err := asks(t.Context(), other, searchRequest(0)); err != nil {
		t.Errorf("another master: %v", err)
	}
}
