// Package searchapi is the public port of a master: search and explain over
// HTTP (serving.md §8), as openapi.yaml describes it.
//
// A request is checked by generated code (package api), expanded once, asked
// of a search.Searcher under a deadline that counts from the request's first
// byte, finished by the auction and written as JSON. Beyond a number of
// searches under way, requests are refused at once.
//
// Goals: exact checks, errors that say what to do, no reflection before the
// answer is encoded. Non-goals: TLS, asking slaves.
package searchapi
