// Package queryserver answers queries over gRPC (query.proto), for programs inside
// that would rather not speak HTTP.
//
// Goals: the meaning, the checks, the places and the counts of GET /v1/search; errors
// with the kinds of package fault. Non-goals: explanations, and a protocol of its own:
// what there is to decide is decided by package httpapi.
package queryserver
