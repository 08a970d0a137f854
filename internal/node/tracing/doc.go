// Package tracing makes the spans of searches, which show which parts of a search took how long in
// which process, and exports them by OTLP over HTTP (OpenTelemetry).
//
// A nil *Tracer is switched off, and a nil *Span belongs to a search that is not traced. All
// methods accept nil, and then cost nothing: a process that does not trace only compares pointers
// with nil.
//
// Spans contain ids of requests, names of shards and slaves, and kinds of errors, but never what
// users typed.
//
// Non-goals: metrics and logs by OpenTelemetry; traces of changes and moves.
package tracing
