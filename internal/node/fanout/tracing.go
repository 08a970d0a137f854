package fanout

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/stream"
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
	for len(a.spans) <= k {
		a.spans = append(a.spans, nil)
	}
	a.spans[k] = span
	a.mu.Unlock()
	tags := stream.TagsOf(ctx)
	tags.Trace = span.Context()
	return stream.With(ctx, tags)
}

// endSpan ends the span of a call.
func (a *asking[A]) endSpan(c *call, o choice.Outcome, err error) {
	for k, span := range a.spans {
		if span == nil || &a.calls[k] != c {
			continue
		}
		if o == choice.Beaten || o == choice.Needless {
			span.Set(attribute.Bool("adshard.needless", true))
		}
		span.End(time.Now(), err)
	}
}
