package shardserver

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"adshard/internal/node/tracing"
	"adshard/search"
)

// begin begins the span of a search, or returns nil if it is not traced. For a search that came
// over a stream, the span includes the wait for its turn.
func (s *Server) begin(r *search.Request, began time.Time) *tracing.Span {
	if r.Trace == "" {
		return nil
	}
	came := r.Came
	if came.IsZero() {
		came = began
	}
	span := s.tracer.Continue(r.Trace, "slave search", came)
	span.Stage("wait", came, began.Sub(came))
	return span
}

// traced does the work of answer for a search with a span.
func (s *Server) traced(ctx context.Context, r *search.Request, span *tracing.Span, began time.Time) (*search.Answer, error) {
	own := *r
	own.Timing = new(search.Timing)
	answer, err := s.search(ctx, &own)
	now := time.Now()
	s.searched(now.Sub(began), span.TraceID(), answer, err)
	for _, p := range own.Timing.Parts() {
		span.Stage(p.Name, p.Began, p.Took)
	}
	if answer != nil {
		span.Set(attribute.Int64("adshard.examined", int64(answer.Work.Examined)), attribute.Int64("adshard.matched", int64(answer.Matched)))
	}
	span.End(now, err)
	return answer, err
}
