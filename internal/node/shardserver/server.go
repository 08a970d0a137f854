package shardserver

import (
	"context"
	"sync/atomic"
	"time"

	"adshard/barrels"
	"adshard/barrels/index"
	"adshard/fault"
	"adshard/internal/node/overload"
	"adshard/internal/node/stream"
	"adshard/internal/node/tracing"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// Store is the store that is served.
type Store interface {
	search.Searcher
	search.Explainer
	// Position and Slices are as of the last bucket applied (barrels.Store).
	Position() *pb.Position
	Slices() *pb.SliceTable
	// Certify makes the certificate of an interval (barrels.Store).
	Certify(ctx context.Context, lo, hi, bins uint64, parents []barrels.Parent) (*barrels.Certificate, error)
}

// Upkeep repairs the store. loadproxy.Proxy implements it.
type Upkeep interface {
	// Discard discards the slice with these keys and fills it again.
	Discard(lo, hi uint64, why string)
	// WhyIncomplete returns why the slave serves less than its map gives it, or "" if it
	// serves all of it. It is called for each search.
	WhyIncomplete() string
	// Lag returns how long the store has been behind the head of the feed. It is called for each
	// search.
	Lag() time.Duration
}

// Adopter gives the balancer's address to a slave that was started without one, and returns the
// slave's name.
type Adopter func(balancer string) (name string, err error)

// Observer receives each call, for metrics. It is called by many goroutines.
type Observer interface {
	// Searched reports a search: its answer, or nil with an error, and the id of its trace, or ""
	// if it is not traced.
	Searched(took time.Duration, trace string, a *search.Answer, err error)
	// Panicked reports a panic in a search or an explanation.
	Panicked(cause any)
}

// Identity identifies a slave.
type Identity struct {
	Name string
	// Incarnation is new at each start of the process.
	Incarnation string
	// Instance is the instance of the slave's directory; 0 means unknown.
	Instance uint64
	// Languages are those whose words have stems.
	Languages words.Languages
}

// Server is the gRPC service of a slave. Make it with New. After serving streams, call Close.
type Server struct {
	pb.UnimplementedSlaveServer
	identity Identity
	store    Store
	observer Observer
	adopt    Adopter
	upkeep   Upkeep
	gate     *overload.Gate
	opened   atomic.Uint64 // number of streams ever opened
	streams  *stream.Server
	sums     chan struct{}   // holds one element while a certificate is made
	waiting  atomic.Int64    // number of searches that wait for changes
	tracer   *tracing.Tracer // nil if nothing is traced
	lists    Lists           // nil if there are none
}

// MaxExplained bounds the matches of one explanation.
const MaxExplained = 10_000

// New returns a server for a store behind a gate. `observer` may be nil.
func New(identity Identity, store Store, upkeep Upkeep, gate *overload.Gate, observer Observer, adopt Adopter) *Server {
	s := &Server{identity: identity, store: store, upkeep: upkeep, observer: observer, adopt: adopt,
		gate: gate, sums: make(chan struct{}, 1)}
	s.streams = stream.NewServer(s.hello, s.gateOf, s.answer, stream.DefaultTimes())
	return s
}

// Trace has searches that come with a trace context traced by t. Call it before the server serves;
// nil changes nothing.
func (s *Server) Trace(t *tracing.Tracer) { s.tracer = t }

// answer answers a request that has a place. It serves as the stream.Handler.
func (s *Server) answer(ctx context.Context, r *search.Request) (*search.Answer, error) {
	began := time.Now()
	if s.tracer != nil {
		if span := s.begin(r, began); span != nil {
			return s.traced(ctx, r, span, began)
		}
	}
	answer, err := s.search(ctx, r)
	s.searched(time.Since(began), "", answer, err)
	return answer, err
}

func (s *Server) search(ctx context.Context, r *search.Request) (answer *search.Answer, err error) {
	defer fault.Recover("slave: search", &err, s.panicked)
	if r.Shard == 0 {
		return nil, errNoShard
	}
	if r.Least.Clock > 0 {
		if err := s.holds(ctx, r.Least); err != nil {
			return nil, err
		}
	}
	if r, err = s.withLists(ctx, r); err != nil {
		return nil, err
	}
	if answer, err = s.store.Search(ctx, r); err == nil {
		answer.WhyIncomplete, answer.Lag = s.upkeep.WhyIncomplete(), s.upkeep.Lag()
	}
	return answer, err
}

// searched reports a search to the observer.
func (s *Server) searched(took time.Duration, trace string, answer *search.Answer, err error) {
	if s.observer != nil {
		s.observer.Searched(took, trace, answer, err)
	}
}

// Explain implements pb.SlaveServer.
func (s *Server) Explain(ctx context.Context, m *pb.ExplainRequest) (*pb.ExplainResponse, error) {
	leave, err := s.pass(ctx, &search.Tags{})
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.meant(m.GetRequest()); err != nil {
		return nil, err
	}
	r, err := wire.ToExplain(m)
	if err != nil {
		return nil, err
	}
	e, err := s.explain(ctx, r, int(min(m.GetLimit(), MaxExplained)))
	if err != nil {
		return nil, err
	}
	return wire.FromExplanation(e), nil
}

// explain explains a request that has a place.
func (s *Server) explain(ctx context.Context, r *search.Request, limit int) (_ *search.Explanation, err error) {
	defer fault.Recover("slave: search", &err, s.panicked)
	if r.Shard == 0 {
		return nil, errNoShard
	}
	if r, err = s.withLists(ctx, r); err != nil {
		return nil, err
	}
	return s.store.Explain(ctx, r, min(limit, MaxExplained))
}

// meant returns an error for a request that is for another instance. Errors: fault.Conflict.
func (s *Server) meant(m *pb.SearchRequest) error {
	if own := s.identity.Instance; m.GetInstance() != 0 && own != 0 && m.GetInstance() != own {
		return errInstance
	}
	return nil
}

// errInstance is the error of a request that is for a different replica than this slave.
var errInstance = fault.Newf(fault.Conflict, "slave: search",
	"the request is for another slave that was at this address, or for what this one's directory held before it was emptied; ask again with a newer map")

// errNoShard is the error of a request that does not say which shard it is for.
var errNoShard = fault.Field("slave: search", "shard", "the request names no shard")

// Map implements pb.SlaveServer. The reply also identifies the slave.
func (s *Server) Map(context.Context, *pb.MapRequest) (*pb.MapResponse, error) {
	t := s.store.Slices()
	return &pb.MapResponse{
		Epoch: s.store.Position().GetEpoch(), View: t.GetView(), Revision: t.GetRevision(), Shards: t.GetShards(),
		Database: index.Database(t), Timeline: t.GetTimeline(), Least: t.GetLeast(),
		Shard: index.ShardName(s.identity.Name, t), Name: s.identity.Name, Incarnation: wire.Incarnation(s.identity.Incarnation), Filled: t.GetFilled(),
	}, nil
}

// panicked reports a panic to the observer.
func (s *Server) panicked(cause any) {
	if s.observer != nil {
		s.observer.Panicked(cause)
	}
}
