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
	// exportEvery is the time between two exports, exportTime is how long an export may take, and
	// closeTime is how long the end of the process waits for the last one.
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

// Open returns the tracer of a node with a role and a name, or nil if the configuration does not
// ask for one.
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

// Close exports the remaining spans, within a short time.
func (t *Tracer) Close() {
	if t != nil {
		t.shutdown(closeTime)
	}
}

func (t *Tracer) shutdown(within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // failures were logged and counted
}

// Register registers the tracer's metrics.
func (t *Tracer) Register(r prometheus.Registerer) {
	if t != nil {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "adshard_spans_lost_total", Help: "Spans that could not be exported."},
			func() float64 { return float64(t.lost.Load()) }))
	}
}

// Request begins the span of a request, or returns nil if it is not sampled. `headers` are headers
// or metadata, and may have the trace context. Searches without a context are sampled here at
// random, so that the others cost nothing more.
func (t *Tracer) Request(headers propagation.TextMapCarrier, name string, at time.Time) *Span {
	if t == nil {
		return nil
	}
	parent := context.Background()
	if headers.Get("Traceparent") != "" { // in this spelling, the lookup allocates nothing
		parent = propagation.TraceContext{}.Extract(parent, headers)
	}
	if !trace.SpanContextFromContext(parent).IsValid() && rand.Float64() >= t.share {
		return nil
	}
	return t.begin(parent, name, at, trace.SpanKindServer)
}

// Continue begins a span below a trace context in the form of Span.Context. It returns nil for ""
// and for anything that is not a trace context: only masters begin traces.
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

// exporter counts the spans that cannot be exported. It logs a warning when exports begin to fail.
type exporter struct {
	sdk.SpanExporter
	lost *atomic.Uint64
	log  *slog.Logger
	bad  bool // only one export is under way at a time
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
	return nil // after an error, the library would log it, too
}
