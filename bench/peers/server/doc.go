// Package server runs the process of another system that is measured: it starts
// it, as a user of its own if need be, ends it, and reports what memory it and its
// own children hold. A process ends with this one.
//
// Goals: nothing is left behind. Non-goals: restarts; readiness, which each peer recognises
// itself.
package server
