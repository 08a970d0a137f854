package searchapi

import (
	"crypto/rand"
	"time"

	"adshard/events/token"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/overload"
	"adshard/internal/node/tracing"
	"adshard/places"
	"adshard/search"
)

// Defaults of a Config.
const (
	DefaultTimeout     = 500 * time.Millisecond
	DefaultMaxInFlight = 256
	DefaultBodyTimeout = 2 * time.Second
	// ExpansionBytes bounds the expanded queries that are kept.
	ExpansionBytes = 16 << 20
)

// Config is what a handler needs. Searcher is required, all else has a
// default.
type Config struct {
	// Searcher is asked each query: once, or again where a block list was replaced meanwhile.
	Searcher search.Searcher
	// Explainer answers /v1/explain. If it is nil, the call is answered 403, with where
	// to ask.
	Explainer search.Explainer
	// Counter counts verdicts for why_empty, which tells no bid; nil: it is not answered.
	Counter search.Explainer
	// Names are those by which the port may be called where it shows bids.
	Names httpapi.Names
	// Expansions expands queries; nil: without synonyms.
	Expansions *search.Expansions
	// Profile says what the match types mean; the zero one stands for the
	// default profile.
	Profile search.Profile
	// EventKeys returns the keys that sign a token for each ad, or nil if there are no
	// tokens.
	EventKeys func() *token.Ring
	// Places returns the table of places, or nil before it is known; nil: countries only.
	Places func() *places.Table
	// List returns the version of the stored block list with a name; nil: there are none. Errors: fault.Invalid, there is none of that
	// name; fault.Unavailable, it is not known yet.
	List func(name string) (version uint64, err error)
	// Scorer returns the model by which candidates are scored; nil: none ever is.
	Scorer func() search.ScorerID
	// IncludeUnknownLocations: where no place of the user is known, targets of places pass.
	IncludeUnknownLocations bool
	// Reserve is the least price, in micros.
	Reserve uint64
	// DefaultTimeout holds for requests without timeout_ms.
	DefaultTimeout time.Duration
	// BodyTimeout is how long the body of a POST may take.
	BodyTimeout time.Duration
	// Timed: observations have the times of each shard.
	Timed bool
	// Tracer makes the spans of searches, or nil if there are none.
	Tracer *tracing.Tracer
	// Arrived receives the text and the context of each search as it arrives, or is nil. The context is
	// as in Observation.
	Arrived func(query, context string)
	// MaxInFlight is the most searches under way; under overload fewer are taken
	// (overload.ForMaster).
	MaxInFlight int
	// Observer receives every request, once it is finished; it may be nil.
	Observer Observer
	// OwnRequestIDs: the ids that requests have are ignored. An id decides whether a throttled campaign takes part in
	// its request, and which ad an even rotation shows.
	OwnRequestIDs bool
	// NewRequestID makes the id of a request that has none: 1 to 64 printable
	// ASCII characters; nil means random ones.
	NewRequestID func() string
}

// Observer takes what is known of finished requests, for metrics and logs. It
// is called from many goroutines and must not keep the Observation.
type Observer interface {
	Observe(*Observation)
}

// Observation is what is known of one finished request.
type Observation struct {
	// Operation is "search", "explain", "openapi" or, for other paths, "none".
	Operation string
	RequestID string
	Status    int
	// Query is the text; "" where the request was refused before it was read.
	Query string
	// Context is what the request says beside its text that decides the ads, as parameters of /v1/explain, with the time for which it
	// is answered; "" if it says nothing, or if neither Config.Arrived nor Config.Timed is set.
	Context string
	// Took counts from the first byte; the others are the stages of a search:
	// zero where it did not come so far.
	Took, Expand, Search, Finish time.Duration
	// Kept: the expanded query was kept from an earlier request.
	Kept bool
	// Timing has the calls to shards, with Config.Timed, or nil if none was
	// made.
	Timing *search.Timing
	// TraceID is that of the trace, or "" if the request is not traced.
	TraceID string
	// Answer is the searcher's; nil without one.
	Answer *search.Answer
	// Why counts the verdicts of all keywords that match, of an answer without ads that says why; nil of all others.
	Why *[search.Verdicts]uint64
	// Err is why the request was refused or failed; nil for a 200.
	Err error
}

// OperationSearch is the operation of searches.
const OperationSearch = "search"

const operationExplain = "explain"

// Whose ids requests have, as configurations say it (Config.OwnRequestIDs).
const (
	RequestIDsGiven = "given" // the client's, if it gives one
	RequestIDsOwn   = "own"
)

// Outcome is complete or incomplete, or the kind of the error.
func (o *Observation) Outcome() string {
	switch {
	case o.Err != nil:
		return fault.KindOf(o.Err).String()
	case !o.Complete():
		return "incomplete"
	}
	return "complete"
}

// Complete reports whether the answer, if there is one, is of the whole ring.
func (o *Observation) Complete() bool { return o.Answer == nil || o.Answer.Width == search.WholeRing() }

// New returns the handler of the public port. Use httpapi.Serve to run it: that gives
// it the time of a request's first byte and the limits of the server.
func New(c Config) *Handler {
	if c.Profile == (search.Profile{}) {
		c.Profile = search.DefaultProfile()
	}
	if c.DefaultTimeout <= 0 {
		c.DefaultTimeout = DefaultTimeout
	}
	c.DefaultTimeout = min(c.DefaultTimeout, httpapi.MaxTimeout)
	if c.BodyTimeout <= 0 {
		c.BodyTimeout = DefaultBodyTimeout
	}
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = DefaultMaxInFlight
	}
	if c.Expansions == nil {
		c.Expansions = search.NewExpansions(nil, ExpansionBytes)
	}
	if c.NewRequestID == nil {
		c.NewRequestID = rand.Text
	}
	return &Handler{Config: c, gate: overload.New(overload.ForMaster(c.MaxInFlight))}
}

// State returns how many searches are under way.
func (h *Handler) State() overload.State { return h.gate.State() }
