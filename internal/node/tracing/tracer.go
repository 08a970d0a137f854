package tracing

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"adshard/fault"
)

const (
	// exportEvery is how long spans wait to be exported together; exportTime how long an
	// export may take; closeTime how long the end of the process waits for the last.
	exportEvery = time.Second
	exportTime  = 10 * time.Second
	closeTime   = 3 * time.Second
)

// Tracer makes the spans of one node. Make it with Open.
type Tracer struct {
	share    float64
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	lost     atomic.Uint64
}

// Open returns the tracer of a node, by what it is and its name, or nil if the
// configuration asks for none.
func Open(c Config, role, name string, log *slog.Logger) (*Tracer, error) {
	if c.Endpoint == "" {
		return nil, nil
	}
	out, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(c.Endpoint), otlptracehttp.WithTimeout(exportTime))
	if err != nil {
		return nil, fault.New(fault.Invalid, "tracing: open", err)
	}
	t := &Tracer{share: c.Share}
	t.provider = sdk.NewTracerProvider(
		sdk.WithBatcher(&exporter{SpanExporter: out, lost: &t.lost, log: log}, sdk.WithBatchTimeout(exportEvery)),
		sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.namespace", "adshard"),
			attribute.String("service.name", role), attribute.String("service.instance.id", name))))
	t.tracer = t.provider.Tracer("adshard")
	return t, nil
}

// Close exports what is left, for a short time.
func (t *Tracer) Close() {
	if t != nil {
		t.shutdown(closeTime)
	}
}

func (t *Tracer) shutdown(within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // what could not be exported was logged and counted
}

// Register registers the tracer's metrics.
func (t *Tracer) Register(r prometheus.Registerer) {
	if t != nil {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "adshard_spans_lost_total", Help: "Spans that could not be exported."},
			func() float64 { return float64(t.lost.Load()) }))
	}
}

// Request begins the span of a request, or returns nil if it is not sampled. The trace
// context, if there is one, is in headers or metadata. Searches without a context are
// sampled here at random, so that the rest cost nothing more.
func (t *Tracer) Request(headers propagation.TextMapCarrier, name string, at time.Time) *Span {
	if t == nil {
		return nil
	}
	parent := context.Background()
	if headers.Get("Traceparent") != "" { // written so, it is looked up without an allocation
		parent = propagation.TraceContext{}.Extract(parent, headers)
	}
	if !trace.SpanContextFromContext(parent).IsValid() && rand.Float64() >= t.share {
		return nil
	}
	return t.begin(parent, name, at, trace.SpanKindServer)
}

// Continue begins a span below a trace context, as Span.Context makes it; nil for ""
// and for what is not one: only masters begin traces.
func (t *Tracer) Continue(from, name string, at time.Time) *Span {
	if t == nil || from == "" {
		return nil
	}
	parent, ok := parse(from)
	if !ok {
		return nil
	}
	return t.begin(trace.ContextWithRemoteSpanContext(context.Background(), parent), name, at, trace.SpanKindServer)
}

// begin begins a span, or returns nil if it is not sampled.
func (t *Tracer) begin(parent context.Context, name string, at time.Time, kind trace.SpanKind, more ...attribute.KeyValue) *Span {
	ctx, span := t.tracer.Start(parent, name, trace.WithTimestamp(at), trace.WithSpanKind(kind), trace.WithAttributes(more...))
	if !span.IsRecording() {
		return nil
	}
	return &Span{tracer: t, ctx: ctx, span: span}
}

// exporter counts what cannot be exported, and says so once until it can again.
type exporter struct {
	sdk.SpanExporter
	lost *atomic.Uint64
	log  *slog.Logger
	bad  bool // one export is under way at a time
}

// ExportSpans implements sdk.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, list []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, list)
	if err != nil {
		e.lost.Add(uint64(len(list)))
	}
	if err != nil && !e.bad {
		e.log.Warn("traces cannot be exported; searches do not need that", "err", err)
	}
	e.bad = err != nil
	return nil // else the library logs it, too
}
