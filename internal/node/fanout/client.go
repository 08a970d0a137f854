package fanout

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"

	"adshard/fault"
	"adshard/internal/node/stream"
	"adshard/internal/node/tracing"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// Client is the slave of one shard, reached by gRPC. Each request names the
// shard, and an answer of another one is refused: two addresses that lead to
// one process never add up to a complete answer. It names the slave's instance too, so
// that another process at its address, or one with an emptied directory, refuses it. Calls need a deadline; errors
// have fault kinds when the connection is one of wire.Dial.
type Client struct {
	name     string
	id       search.ShardID
	instance uint64
	slave    pb.SlaveClient
	// stream carries searches while it is up; nil: there is none.
	stream *stream.Client
	// reconnect has the connection for calls try at once to connect; nil: it cannot.
	reconnect func()
	// requests are messages to send again, so that naming the shard costs no
	// memory.
	requests sync.Pool
}

// NewClient returns the client of a replica.
func NewClient(t Target, slave pb.SlaveClient) *Client {
	return &Client{name: t.Shard, id: t.ID, instance: t.Instance, slave: slave, requests: sync.Pool{New: func() any { return new(pb.SearchRequest) }}}
}

// Ask implements Slave: it sends the request under this shard's id, over the stream if
// it is up.
func (c *Client) Ask(ctx context.Context, r *wire.Shared, done Done) Pending {
	if c.stream != nil {
		asked, err := c.overStream(ctx, r, done)
		if err == nil {
			return asked
		}
		if err != stream.ErrDown {
			done(nil, err)
			return byContext{}
		}
	}
	go func() { done(c.call(ctx, r)) }()
	return byContext{}
}

// Reconnect tries to connect again at once, instead of after the pause that follows
// attempts that failed. It does not wait.
func (c *Client) Reconnect() {
	if c.reconnect != nil {
		c.reconnect()
	}
}

func (c *Client) overStream(ctx context.Context, r *wire.Shared, done Done) (stream.Asked, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return stream.Asked{}, fault.Newf(fault.Invalid, "master: search", "a search without a deadline is refused; set one")
	}
	ask := &wire.Ask{View: r.Request().View, Left: time.Until(deadline), Tags: r.Request().Tags, Search: r.Encoded()}
	return c.stream.Ask(ask, func(a *search.Answer, err error) {
		if err == nil {
			err = owned(c.name, c.id, a.Shard)
		}
		if err != nil {
			a = nil
		}
		done(a, err)
	})
}

// call searches by a call of its own.
func (c *Client) call(ctx context.Context, r *wire.Shared) (*search.Answer, error) {
	m := c.requests.Get().(*pb.SearchRequest)
	tags := r.Request().Tags
	wire.Address(m, r.Message(), c.id, c.instance, tags)
	if tags.Trace != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, tracing.HeaderName, tracing.Header(tags.Trace))
	}
	reply, err := c.slave.Search(ctx, m)
	c.requests.Put(m) // gRPC has encoded it before the call returns
	if err != nil {
		return nil, wire.FromStatus(err)
	}
	if err := owned(c.name, c.id, search.ShardID(reply.GetShard())); err != nil {
		return nil, err
	}
	return wire.ToAnswer(reply), nil
}

// owned refuses the answer of another shard than the one with this name and id.
func owned(name string, id, from search.ShardID) error {
	if from == id {
		return nil
	}
	return fault.Newf(fault.Conflict, "master: search",
		"the answer at the address of shard %s is of another slave, database or timeline; check the addresses that slaves advertise", name)
}

// Map implements Seed.
func (c *Client) Map(ctx context.Context) (*pb.MapResponse, error) {
	reply, err := c.slave.Map(ctx, &pb.MapRequest{})
	return reply, wire.FromStatus(err)
}

// Explain implements search.Explainer.
func (c *Client) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	m := wire.FromExplain(r, limit)
	m.Request.Shard, m.Request.Instance = uint64(c.id), c.instance
	reply, err := c.slave.Explain(ctx, m)
	if err != nil {
		return nil, wire.FromStatus(err)
	}
	if err := owned(c.name, c.id, search.ShardID(reply.GetShard())); err != nil {
		return nil, err
	}
	return wire.ToExplanation(reply, c.name), nil
}
