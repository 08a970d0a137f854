// Package backendtest is the conformance suite of backend.Store. Each clause of the contracts in package backend is
// one function, and Run runs them all on a Factory. Random histories, compared with a model (Model), check how the
// clauses work together.
//
// Goals: a second implementation passes unchanged, or how it differs is stated. Non-goals: speed; features of a
// single database.
package backendtest
