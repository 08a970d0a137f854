// Package tracing makes the spans of searches and exports them by OTLP over HTTP
// (OpenTelemetry): which parts of a search took how long, in which process.
//
// A nil *Tracer is off, and a nil *Span belongs to a search that is not traced. All methods
// accept nil, and cost nothing then. So a process that does not trace asks nothing but
// whether a pointer is nil.
//
// Spans have ids of requests, names of shards and slaves, and kinds of errors; never what
// users typed.
//
// Non-goals: metrics and logs by OpenTelemetry; traces of changes and moves.
package tracing
