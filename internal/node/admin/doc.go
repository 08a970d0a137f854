// Package admin serves the admin port of every process: liveness, readiness with reasons, metrics
// and profiles, on a balancer also its control calls, and the pages of the console.
//
// Metrics live in a registry that the process makes for them and passes on; times are histograms in
// seconds.
//
// Goals: to answer even if the process cannot do its work; to refuse requests that a page of
// another site makes a browser send, or that come under a name that was made to resolve to this
// port. Non-goals: users; pages (package console).
package admin
