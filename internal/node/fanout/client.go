package fanout

import (
	"context"
	"time"

	"adshard/fault"
	"adshard/internal/node/stream"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// Client is the slave of one shard, reached by gRPC: searches go over a stream, all other requests
// are calls. Each request names the shard, and the answer of another shard is refused: two
// addresses that lead to one process never add up to a complete answer. Each also names the slave's
// instance, so that another process at its address, or one with an emptied directory, refuses the
// request. Calls need a deadline. Errors have fault kinds if the connection is one of wire.Dial.
type Client struct {
	calls
	target    Target
	stream    *stream.Client
	reconnect func() // makes the connection for calls dial at once
}

// Ask implements Slave.
func (c *Client) Ask(ctx context.Context, r *wire.Shared, done Done) Pending {
	deadline, ok := ctx.Deadline()
	if !ok {
		done(nil, fault.Newf(fault.Invalid, "master: search", "a search without a deadline is refused; set one"))
		return nil
	}
	q := r.Request()
	asked, err := c.stream.Ask(&wire.Ask{View: q.View, Left: time.Until(deadline), Tags: q.Tags, Search: r.Encoded(), Corrects: q.Profile.Corrects()}, func(a *search.Answer, err error) {
		if err == nil {
			err = owned(&c.target, a.Shard)
		}
		if err != nil {
			a = nil
		}
		done(a, err)
	})
	if err != nil {
		done(nil, err)
		return nil
	}
	return asked
}

// Up reports whether there is a stream to the slave.
func (c *Client) Up() bool { return c.stream.Up() }

// Reconnect tries to connect again at once, without the pause that follows failed attempts.
// Requests wait for that.
func (c *Client) Reconnect() {
	c.stream.Reconnect()
	c.reconnect()
}

// owned returns an error if an answer is from a different shard than the one that was asked.
func owned(t *Target, from search.ShardID) error {
	if from == t.ID {
		return nil
	}
	return fault.Newf(fault.Conflict, "master: search",
		"the answer at the address of shard %s is of another slave, database or timeline; check the addresses that slaves advertise", t.Shard)
}

// Explain implements search.Explainer.
func (c *Client) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	m := wire.FromExplain(r, limit)
	m.Request.Shard, m.Request.Instance = uint64(c.target.ID), c.target.Instance
	reply, err := c.slave.Explain(ctx, m)
	if err != nil {
		return nil, wire.FromStatus(err)
	}
	if err := owned(&c.target, search.ShardID(reply.GetShard())); err != nil {
		return nil, err
	}
	return wire.ToExplanation(reply, c.target.Shard), nil
}

// calls makes the calls to a slave that is asked for the map.
type calls struct{ slave pb.SlaveClient }

// NewSeed returns a seed for a slave reached by gRPC.
func NewSeed(slave pb.SlaveClient) Seed { return calls{slave} }

// Map implements Seed.
func (c calls) Map(ctx context.Context) (*pb.MapResponse, error) {
	reply, err := c.slave.Map(ctx, &pb.MapRequest{})
	return reply, wire.FromStatus(err)
}
