package shardserver

import (
	"context"

	"adshard/schema/pb"
	"adshard/search"
)

// Local gives access to a server from within its process: with the same places, checks, counts and
// handling of panics as calls, but without messages.
type Local struct{ server *Server }

// Local returns the server for masters in this process.
func (s *Server) Local() *Local { return &Local{s} }

// Search implements search.Searcher.
func (l *Local) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	leave, err := l.server.pass(ctx, &r.Tags)
	if err != nil {
		l.server.searched(0, "", nil, err)
		return nil, err
	}
	defer leave()
	return l.server.answer(ctx, r)
}

// Explain implements search.Explainer.
func (l *Local) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	leave, err := l.server.pass(ctx, &r.Tags)
	if err != nil {
		return nil, err
	}
	defer leave()
	return l.server.explain(ctx, r, limit)
}

// Map returns the newest map that the slave has received.
func (l *Local) Map(ctx context.Context) (*pb.MapResponse, error) {
	return l.server.Map(ctx, &pb.MapRequest{})
}
