package querylog

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"adshard/fault"
	"adshard/internal/node/config"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/searchapi"
)

// SlowConfig says which searches are logged as slow.
type SlowConfig struct {
	// After is the least duration of a search that is logged as slow; 0 means that none are logged.
	After time.Duration `yaml:"after"`
}

// Check checks the configuration; `key` is its key.
func (c *SlowConfig) Check(k *config.Check, key string) {
	k.Duration(key+".after", c.After, 0, httpapi.MaxTimeout)
}

const (
	// linesPerSecond and lines bound the log: `lines` at once, and then linesPerSecond each second.
	linesPerSecond, lines = 1, 10
	// kept is the number of slowest searches that are kept, and keptFor how long they are kept.
	kept    = 20
	keptFor = time.Hour
	// explainTime is how long an explanation may take, and explainEvery the least time between two
	// explanations.
	explainTime, explainEvery = 2 * time.Second, 10 * time.Second
)

// Slow logs slow searches, and keeps the slowest ones of the last hour. It has the slowest of all
// explained soon after it was answered. Make it with NewSlow.
type Slow struct {
	after   time.Duration
	log     *slog.Logger
	limit   *rate.Limiter
	slowest chan *SlowSearch // to be explained

	mu       sync.Mutex
	list     []*SlowSearch // slowest first; under mu
	unlogged int           // number since the last line; under mu
}

// SlowSearch is a slow search.
type SlowSearch struct {
	At        time.Time `json:"at"` // when it was answered
	RequestID string    `json:"request_id"`
	Query     string    `json:"query"`
	Context   string    `json:"context,omitempty"` // as in searchapi.Observation
	Status    int       `json:"status"`
	// Outcome is complete, incomplete, or the kind of the error.
	Outcome  string `json:"outcome"`
	TookUs   int64  `json:"took_us"`
	ExpandUs int64  `json:"expand_us"`
	SearchUs int64  `json:"search_us"` // all shards
	FinishUs int64  `json:"finish_us"`
	Matched  uint64 `json:"matched"`
	Examined uint64 `json:"examined"`
	// Vocabulary is as in searchapi.Observation.
	Vocabulary string `json:"vocabulary_version,omitempty"`
	// Calls are the calls to shards, in the order in which they ended.
	Calls []SlowCall `json:"calls"`
	// Explanation is an answer of /v1/explain that was requested soon after the search. Only the
	// slowest search has one.
	Explanation any `json:"explanation,omitempty"`
}

// SlowCall is a call to a replica of a shard.
type SlowCall struct {
	Shard   string `json:"shard"`
	Replica string `json:"replica"`
	TookUs  int64  `json:"took_us"`
	Error   string `json:"error,omitempty"` // the kind of the error
}

// String writes a call as one word for a log line.
func (c SlowCall) String() string {
	text := fmt.Sprintf("%s/%s=%v", c.Shard, c.Replica, time.Duration(c.TookUs)*time.Microsecond)
	if c.Error != "" {
		text += "(" + c.Error + ")"
	}
	return text
}

// NewSlow returns a Slow for searches that took the time `after` or longer.
func NewSlow(after time.Duration, log *slog.Logger) *Slow {
	return &Slow{after: after, log: log, limit: rate.NewLimiter(linesPerSecond, lines), slowest: make(chan *SlowSearch, 1)}
}

// Observe implements searchapi.Observer.
func (s *Slow) Observe(o *searchapi.Observation) {
	if o.Took < s.after || o.Operation != searchapi.OperationSearch || o.Query == "" {
		return
	}
	q := slowSearch(o)
	s.record(q)
	if !s.limit.Allow() {
		s.mu.Lock()
		s.unlogged++
		s.mu.Unlock()
		return
	}
	s.mu.Lock()
	unlogged := s.unlogged
	s.unlogged = 0
	s.mu.Unlock()
	calls := make([]string, len(q.Calls))
	for i, c := range q.Calls {
		calls[i] = c.String()
	}
	s.log.Warn("a search was slow", "request", q.RequestID, "query", q.Query, "context", q.Context, "took", o.Took, "expand", o.Expand, "search", o.Search,
		"finish", o.Finish, "outcome", q.Outcome, "matched", q.Matched, "examined", q.Examined, "vocabulary_version", q.Vocabulary, "calls", strings.Join(calls, " "), "unlogged", unlogged)
}

func slowSearch(o *searchapi.Observation) *SlowSearch {
	q := &SlowSearch{At: time.Now(), RequestID: o.RequestID, Query: o.Query, Context: o.Context, Status: o.Status, Outcome: o.Outcome(),
		TookUs: o.Took.Microseconds(), ExpandUs: o.Expand.Microseconds(), SearchUs: o.Search.Microseconds(), FinishUs: o.Finish.Microseconds(),
		Vocabulary: o.Vocabulary}
	if a := o.Answer; a != nil {
		q.Matched, q.Examined = a.Matched, a.Work.Examined
	}
	for _, p := range o.Timing.Parts() {
		c := SlowCall{Shard: p.Name, Replica: p.Replica, TookUs: p.Took.Microseconds()}
		if p.Err != nil {
			c.Error = fault.KindOf(p.Err).String()
		}
		q.Calls = append(q.Calls, c)
	}
	return q
}

// record keeps a search if it is among the slowest, and passes it on to be explained if it is the
// slowest.
func (s *Slow) record(q *SlowSearch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(q.At)
	at, _ := slices.BinarySearchFunc(s.list, q, func(a, b *SlowSearch) int { return int(b.TookUs - a.TookUs) })
	if at == kept {
		return
	}
	s.list = slices.Insert(s.list, at, q)
	s.list = s.list[:min(len(s.list), kept)]
	if at == 0 {
		select {
		case s.slowest <- q:
		default: // one is waiting already
		}
	}
}

// forget drops searches that are too old. The caller holds mu.
func (s *Slow) forget(now time.Time) {
	s.list = slices.DeleteFunc(s.list, func(q *SlowSearch) bool { return now.Sub(q.At) > keptFor })
}

// Slowest returns the slowest searches of the last hour, slowest first.
func (s *Slow) Slowest() []SlowSearch {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now())
	list := make([]SlowSearch, len(s.list))
	for i, q := range s.list {
		list[i] = *q
	}
	return list
}

// Run has the slowest searches explained, each with its context, until ctx is done.
func (s *Slow) Run(ctx context.Context, explain func(ctx context.Context, query, of string) (any, error)) {
	pause := time.NewTicker(explainEvery)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case q := <-s.slowest:
			s.explain(ctx, q, explain)
		}
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

func (s *Slow) explain(ctx context.Context, q *SlowSearch, explain func(ctx context.Context, query, of string) (any, error)) {
	ctx, cancel := context.WithTimeout(ctx, explainTime)
	defer cancel()
	answer, err := explain(ctx, q.Query, q.Context)
	if err != nil {
		s.log.Debug("the slowest search could not be explained", "request", q.RequestID, "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.Explanation = answer
	for _, other := range s.list {
		if other != q {
			other.Explanation = nil
		}
	}
}

var _ searchapi.Observer = (*Slow)(nil)
