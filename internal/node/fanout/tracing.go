package fanout

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/stream"
	"adshard/internal/node/tracing"
)

// traced begins the span of call k, and returns a context whose search carries it.
func (a *asking[A]) traced(ctx context.Context, k int) context.Context {
	a.mu.Lock()
	c := a.calls[k]
	a.mu.Unlock()
	s := &a.g.shards[c.shard]
	span := a.span.Call("shard", time.Now(), attribute.String("adshard.shard", s.Name),
		attribute.String("adshard.replica", s.Replicas[c.replica].Name), attribute.Bool("adshard.hedge", c.hedge))
	a.mu.Lock()
	a.calls[k].span = span
	a.mu.Unlock()
	tags := stream.TagsOf(ctx)
	tags.Trace = span.Context()
	return stream.With(ctx, tags)
}

// endSpan ends the span of a call.
func endSpan(span *tracing.Span, o choice.Outcome, err error) {
	if o == choice.Beaten || o == choice.Needless {
		span.Set(attribute.Bool("adshard.needless", true))
	}
	span.End(time.Now(), err)
}
