package fanout

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/tracing"
)

// trace begins the span of call k, and returns the trace context that its search carries.
func (a *asking[A]) trace(k int) string {
	a.mu.Lock()
	c := a.calls[k]
	a.mu.Unlock()
	s := &a.g.shards[c.shard]
	span := a.span.Call("shard", time.Now(), attribute.String("adshard.shard", s.Name),
		attribute.String("adshard.replica", s.Replicas[c.replica].Name), attribute.Bool("adshard.hedge", c.hedge))
	a.mu.Lock()
	a.calls[k].span = span
	a.mu.Unlock()
	return span.Context()
}

// endSpan ends the span of a call.
func endSpan(span *tracing.Span, o choice.Outcome, err error) {
	if o == choice.Beaten || o == choice.Needless {
		span.Set(attribute.Bool("adshard.needless", true))
	}
	span.End(time.Now(), err)
}
