package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"adshard/fault"
)

// Span is a part of a traced search. It is nil if the search is not traced.
type Span struct {
	tracer *Tracer
	ctx    context.Context // for children
	span   trace.Span
}

// Child begins a span below this one. Call methods with arguments only on spans that are not nil,
// so that nothing is allocated for others.
func (s *Span) Child(name string, at time.Time, more ...attribute.KeyValue) *Span {
	if s == nil {
		return nil
	}
	return s.tracer.begin(s.ctx, name, at, trace.SpanKindInternal, more...)
}

// Call is like Child, for a call to another node.
func (s *Span) Call(name string, at time.Time, more ...attribute.KeyValue) *Span {
	if s == nil {
		return nil
	}
	return s.tracer.begin(s.ctx, name, at, trace.SpanKindClient, more...)
}

// Stage adds a finished stage of the span's work. It is an event instead of a child, since a search
// of three shards has 16 stages and a span costs twice as much.
func (s *Span) Stage(name string, began time.Time, took time.Duration) {
	if s != nil && took > 0 {
		s.span.AddEvent(name, trace.WithTimestamp(began), trace.WithAttributes(attribute.Int64("adshard.took_us", took.Microseconds())))
	}
}

// Set adds an attribute to the span.
func (s *Span) Set(more ...attribute.KeyValue) {
	if s != nil {
		s.span.SetAttributes(more...)
	}
}

// End ends the span, and records the kind of an error. Further calls do nothing.
func (s *Span) End(at time.Time, err error) {
	if s == nil {
		return
	}
	if err != nil {
		kind := fault.KindOf(err).String()
		s.span.SetAttributes(attribute.String("error.type", kind))
		s.span.SetStatus(codes.Error, kind)
	}
	s.span.End(trace.WithTimestamp(at))
}

// TraceID returns the id of the trace as text, or "" if s is nil.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// contextBytes is the size of a trace context: trace id, span id and flags.
const contextBytes = 16 + 8 + 1

// Context returns the trace context for spans below this one in another process, in 25 bytes
// (docs/stream.md), or "" if s is nil.
func (s *Span) Context() string {
	if s == nil {
		return ""
	}
	of := s.span.SpanContext()
	id, span := of.TraceID(), of.SpanID()
	b := make([]byte, 0, contextBytes)
	return string(append(append(append(b, id[:]...), span[:]...), byte(of.TraceFlags())))
}

// parse reads a trace context in the form of Context.
func parse(text string) (trace.SpanContext, bool) {
	if len(text) != contextBytes {
		return trace.SpanContext{}, false
	}
	c := trace.SpanContextConfig{TraceFlags: trace.TraceFlags(text[24]) & trace.FlagsSampled, Remote: true}
	copy(c.TraceID[:], text)
	copy(c.SpanID[:], text[16:])
	of := trace.NewSpanContext(c)
	return of, of.IsValid()
}

type key struct{}

// With returns a context with a span. Spans begun with that context are the span's children.
func With(ctx context.Context, s *Span) context.Context { return context.WithValue(ctx, key{}, s) }

// Of returns the span of a context, or nil if there is none.
func Of(ctx context.Context) *Span {
	s, _ := ctx.Value(key{}).(*Span)
	return s
}
