// Package searchapi is the public port of a master: search and explain over HTTP (serving.md §8),
// as openapi.yaml describes them.
//
// A request is checked by generated code (package api) and expanded once. A search.Searcher answers
// it under a deadline that counts from the request's first byte; the auction finishes the answer,
// which is then written as JSON. When too many searches are under way, requests are refused at
// once.
//
// Goals: exact checks, errors that say what to do, no reflection before the answer is encoded.
// Non-goals: TLS, asking slaves.
package searchapi
