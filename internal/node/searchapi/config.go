package searchapi

import (
	"context"
	"crypto/rand"
	"time"

	"adshard/events/token"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/overload"
	"adshard/internal/node/tracing"
	"adshard/places"
	"adshard/search"
	"adshard/search/words"
)

// Defaults of a Config.
const (
	DefaultTimeout     = 500 * time.Millisecond
	DefaultMaxInFlight = 256
	DefaultBodyTimeout = 2 * time.Second
	// ExpansionBytes bounds the expanded queries that are kept.
	ExpansionBytes = 16 << 20
)

// Config is what a handler needs. Searcher is required; everything else has a default.
type Config struct {
	// Searcher answers queries. It is asked once for each, or again if a block list was replaced meanwhile.
	Searcher search.Searcher
	// Explainer answers /v1/explain. If it is nil, the answer is 403 with a hint which port to ask.
	Explainer search.Explainer
	// Counter counts verdicts for why_empty, which reveals no bids. If it is nil, why_empty is not answered.
	Counter search.Explainer
	// Names are the names by which the port may be called for answers that show bids.
	Names httpapi.Names
	// Expansions expands queries; nil means without synonyms.
	Expansions *search.Expansions
	// Confirm, if not nil, waits until it is known whether the vocabulary of Expansions is still in force, or ctx is done. It is called
	// before words are corrected.
	Confirm func(ctx context.Context)
	// Profile says what the match types mean; the zero value means the default profile.
	Profile search.Profile
	// EventKeys returns the keys that sign a token for each ad, or nil if there are no
	// tokens.
	EventKeys func() *token.Ring
	// Places returns the table of places, or nil until it is known. If Places is nil, only countries are known.
	Places func() *places.Table
	// List returns the version of the stored block list with a name. If List is nil, there are no lists. Errors: fault.Invalid if
	// there is no list with that name, fault.Unavailable if its version is not known yet.
	List func(name string) (version uint64, err error)
	// Scorer returns the id of the model that scores candidates. If it is nil, there is never one.
	Scorer func() search.ScorerID
	// IncludeUnknownLocations says that campaigns with target places take part if no place of the user is known.
	IncludeUnknownLocations bool
	// Reserve is the lowest price, in micros.
	Reserve uint64
	// DefaultTimeout applies to requests without timeout_ms.
	DefaultTimeout time.Duration
	// BodyTimeout is how long the body of a POST may take.
	BodyTimeout time.Duration
	// Timed says that observations have the times of each shard.
	Timed bool
	// Tracer makes the spans of searches; nil means that there are none.
	Tracer *tracing.Tracer
	// Arrived, if not nil, receives the text, the context and the vocabulary of each search as it arrives, except those refused before
	// their body was read. The context and the vocabulary are those of Observation; the vocabulary is the one in force then.
	Arrived func(query, context, vocabulary string)
	// MaxInFlight bounds the searches under way; under overload, fewer are accepted (overload.ForMaster).
	MaxInFlight int
	// Observer receives every request once it is finished. It may be nil.
	Observer Observer
	// OwnRequestIDs says that the ids in requests are ignored. An id decides whether a throttled campaign takes part in its request,
	// and which ad an even rotation shows.
	OwnRequestIDs bool
	// NewRequestID makes the id of a request that has none: 1 to 64 printable ASCII characters. If it is nil, ids are random.
	NewRequestID func() string
}

// Observer receives what is known about finished requests, for metrics and logs. It is called by many goroutines and must not keep the
// Observation.
type Observer interface {
	Observe(*Observation)
}

// Observation is what is known about a finished request.
type Observation struct {
	// Operation is "search", "explain", "openapi" or, for other paths, "none".
	Operation string
	RequestID string
	Status    int
	// Query is the text of the query, or "" if the request was refused before it was read.
	Query string
	// Context holds the parts of the request other than its text that decide the ads, as parameters of /v1/explain, with the time for
	// which it is answered. It is "" if there are none, or if neither Config.Arrived nor Config.Timed is set.
	Context string
	// Took is the time since the first byte of the request. The others are the times of the stages of a search; a stage that the
	// search did not reach is zero.
	Took, Expand, Search, Finish time.Duration
	// Vocabulary is the version of the vocabulary by which misspelt words were corrected, "none" if there was none, or "" if corrections
	// were not asked for.
	Vocabulary string
	// Kept says that the expanded query was kept from an earlier request.
	Kept bool
	// Timing has the calls to shards if Config.Timed is set; it is nil if none were made.
	Timing *search.Timing
	// TraceID is the id of the trace, or "" if the request is not traced.
	TraceID string
	// Answer is the searcher's answer, or nil if there is none.
	Answer *search.Answer
	// Why counts the verdicts of all matching keywords if an answer has no ads and says why; otherwise it is nil.
	Why *[search.Verdicts]uint64
	// Err says why the request was refused or failed; it is nil for a 200.
	Err error
}

// OperationSearch is the operation of searches.
const OperationSearch = "search"

const operationExplain = "explain"

// The values of the setting that says which ids requests get (Config.OwnRequestIDs).
const (
	RequestIDsGiven = "given" // the client's, if it gives one
	RequestIDsOwn   = "own"
)

// Outcome returns "complete", "incomplete" or the kind of the error.
func (o *Observation) Outcome() string {
	switch {
	case o.Err != nil:
		return fault.KindOf(o.Err).String()
	case !o.Complete():
		return "incomplete"
	}
	return "complete"
}

// Complete reports whether the answer, if there is one, covers the whole ring.
func (o *Observation) Complete() bool { return o.Answer == nil || o.Answer.Width == search.WholeRing() }

// New returns the handler of the public port. Run it with httpapi.Serve, which provides the time of a request's first byte and the
// limits of the server.
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
		c.Expansions = search.NewExpansions(words.Default, nil, ExpansionBytes)
	}
	if c.NewRequestID == nil {
		c.NewRequestID = rand.Text
	}
	return &Handler{Config: c, gate: overload.New(overload.ForMaster(c.MaxInFlight))}
}

// State returns how many searches are under way.
func (h *Handler) State() overload.State { return h.gate.State() }
