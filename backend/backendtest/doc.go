// Package backendtest is the conformance suite of backend.Store: each clause of
// the contracts in package backend is one function, and Run runs them all on a
// Factory. A random history on a model (Model) checks their interplay.
//
// Goals: a second implementation passes unchanged or its difference is named.
// Non-goals: speed; what is special to one database.
package backendtest
