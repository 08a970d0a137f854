package shardserver

import (
	"context"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// Local asks a server from within its process: the same places, checks, counts and
// guard as for calls, without messages.
type Local struct{ server *Server }

// Local returns the server for masters in this process.
func (s *Server) Local() *Local { return &Local{s} }

// Search implements search.Searcher.
func (l *Local) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	leave, err := l.server.pass(ctx)
	if err != nil {
		l.server.searched(0, nil, err)
		return nil, err
	}
	defer leave()
	if r.Shard == 0 {
		l.server.searched(0, nil, errNoShard)
		return nil, errNoShard
	}
	return l.server.answer(ctx, r)
}

// Explain implements search.Explainer.
func (l *Local) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	leave, err := l.server.pass(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if r.Shard == 0 {
		return nil, errNoShard
	}
	return l.server.explain(ctx, r, limit)
}

// Map returns the newest map that the slave has received.
func (l *Local) Map(ctx context.Context) (*pb.MapResponse, error) {
	return l.server.Map(ctx, &pb.MapRequest{})
}

// errInstance refuses a request for a replica that this slave is not.
var errInstance = fault.Newf(fault.Conflict, "slave: search",
	"the request is for another slave that was at this address, or for what this one's directory held before it was emptied; ask again with a newer map")

var errNoShard = fault.Field("slave: search", "shard", "the request names no shard")
