package slave

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/fault"
	"adshard/internal/node/hostiletest"
	"adshard/internal/node/stream"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// TestACallerThatLiesInAnyField: whatever a master, a balancer or another slave says in any
// field, the slave answers or refuses, and answers others as before.
func TestACallerThatLiesInAnyField(t *testing.T) {
	world := barreltest.NewBuilder(t, barreltest.Small(20, "usb cable", "red shoes")).All()
	s, store := running(t, "slave-0", func(store barrels.Store) {
		if err := store.Apply(t.Context(), world); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	conn, err := wire.DialStream(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	slave, copies := pb.NewSlaveClient(conn), pb.NewCopiesClient(conn)
	searching := stream.NewClient(stream.Config{Shard: 1, Name: "slave-0", Times: stream.DefaultTimes(), Log: slog.New(slog.DiscardHandler)}, stream.Over(slave))
	defer searching.Close()
	groups := store.Stats().Groups
	for what, c := range map[string]struct {
		base proto.Message
		call func(context.Context, proto.Message) error
	}{
		"Search": {&pb.SearchRequest{Query: &pb.Query{Text: "usb"}, Slots: 4, Reserve: 1}, func(ctx context.Context, m proto.Message) error {
			return searches(ctx, searching, m)
		}},
		"Explain": {&pb.ExplainRequest{Request: &pb.SearchRequest{Query: &pb.Query{Text: "usb"}, Slots: 4, Reserve: 1}}, func(ctx context.Context, m proto.Message) error {
			_, err := slave.Explain(ctx, m.(*pb.ExplainRequest))
			return err
		}},
		"Certify": {&pb.CertifyRequest{Hi: 1<<64 - 1}, func(ctx context.Context, m proto.Message) error {
			_, err := slave.Certify(ctx, m.(*pb.CertifyRequest))
			return err
		}},
		"Discard": {&pb.DiscardRequest{Incarnation: "x"}, func(ctx context.Context, m proto.Message) error {
			_, err := slave.Discard(ctx, m.(*pb.DiscardRequest))
			return err
		}},
		"Open": {&pb.OpenCopyRequest{Token: "x", Name: "slave-1"}, func(ctx context.Context, m proto.Message) error {
			_, err := copies.Open(ctx, m.(*pb.OpenCopyRequest))
			return err
		}},
		"Sums": {&pb.CopySumsRequest{}, func(ctx context.Context, m proto.Message) error {
			_, err := copies.Sums(ctx, m.(*pb.CopySumsRequest))
			return err
		}},
		"Read": {&pb.ReadCopyRequest{}, func(ctx context.Context, m proto.Message) error {
			_, err := copies.Read(ctx, m.(*pb.ReadCopyRequest))
			return err
		}},
	} {
		hostiletest.Each(c.base, func(field string, m proto.Message) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // some wait for changes that never come
			defer cancel()
			if err := c.call(ctx, m); fault.Is(err, fault.Internal) {
				t.Errorf("%s with %s: %v\n%v", what, field, err, m)
			}
		})
	}
	if now := store.Stats().Groups; now != groups {
		t.Errorf("%d groups are %d", groups, now)
	}
}

// searches sends a message as the search of an ask, and returns what the slave says of it.
func searches(ctx context.Context, c *stream.Client, m proto.Message) error {
	b, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	if _, err := c.Ask(&wire.Ask{Left: time.Minute, Search: b}, func(_ *search.Answer, err error) { done <- err }); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestADistributorThatLiesInAnyField: node data are applied or refused, whatever is in any of
// their fields; the store can be searched and opened afterwards.
func TestADistributorThatLiesInAnyField(t *testing.T) {
	world := barreltest.NewBuilder(t, barreltest.Small(2, "usb cable")).All()
	hostiletest.Each(world, func(field string, m proto.Message) {
		store := barreltest.InMemory(t, filepath.Base(t.Name()))
		err := func() (err error) {
			defer fault.Recover("apply", &err, nil)
			return store.Apply(t.Context(), m.(*pb.NodeData))
		}()
		if fault.Is(err, fault.Internal) || err != nil && strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", field, err)
		}
		if _, err := store.Certify(t.Context(), 0, 1<<64-1, 1, nil); fault.Is(err, fault.Internal) {
			t.Errorf("%s: certify: %v", field, err)
		}
	})
}
