package fanout

import (
	"context"

	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// Client is a slave reached by gRPC. Calls need a deadline; errors have fault
// kinds when the connection is one of wire.Dial.
type Client struct {
	name  string
	slave pb.SlaveClient
}

// NewClient returns the client of the shard with this name.
func NewClient(name string, slave pb.SlaveClient) *Client { return &Client{name: name, slave: slave} }

// Search implements search.Searcher.
func (c *Client) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	return c.send(ctx, wire.FromRequest(r))
}

func (c *Client) send(ctx context.Context, m *pb.SearchRequest) (*search.Answer, error) {
	reply, err := c.slave.Search(ctx, m)
	if err != nil {
		return nil, wire.FromStatus(err)
	}
	return wire.ToAnswer(reply), nil
}

// Map implements Seed.
func (c *Client) Map(ctx context.Context) (*pb.MapResponse, error) {
	reply, err := c.slave.Map(ctx, &pb.MapRequest{})
	return reply, wire.FromStatus(err)
}

// Explain implements search.Explainer.
func (c *Client) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	reply, err := c.slave.Explain(ctx, &pb.ExplainRequest{Request: wire.FromRequest(r), Limit: uint32(max(limit, 0))})
	if err != nil {
		return nil, wire.FromStatus(err)
	}
	return wire.ToExplanation(reply, c.name), nil
}
