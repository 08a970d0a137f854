package searchapi

import (
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/grpc/metadata"
)

// trace begins the span of the call. The trace context is in its headers or metadata.
func (c *call) trace(headers propagation.TextMapCarrier) {
	if c.span = c.Tracer.Request(headers, c.seen.Operation, c.start); c.span != nil {
		c.seen.TraceID = c.span.TraceID()
	}
}

// endSpan ends the span of the call.
func (c *call) endSpan() {
	c.span.Set(attribute.String("adshard.request_id", c.seen.RequestID), attribute.String("adshard.outcome", c.seen.Outcome()),
		attribute.Int("http.response.status_code", c.seen.Status))
	c.span.End(time.Now(), c.seen.Err)
}

// headersOf returns the metadata of a call as headers of the same names.
func headersOf(md metadata.MD) propagation.HeaderCarrier {
	h := make(http.Header)
	for _, name := range (propagation.TraceContext{}).Fields() {
		for _, value := range md.Get(name) {
			h.Add(name, value)
		}
	}
	return propagation.HeaderCarrier(h)
}
