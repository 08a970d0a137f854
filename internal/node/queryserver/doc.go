// Package queryserver answers queries over gRPC (query.proto), for callers inside the
// network that prefer it to HTTP.
//
// Goals: the semantics, the checks, the admission and the metrics of POST /v1/search; errors with
// the kinds of package fault. Non-goals: explanations, and rules, which are those of package
// searchapi.
package queryserver
