// Package admin is the admin port of every process: liveness, readiness with
// reasons, metrics, profiles, and on a balancer its control calls;
// and the pages of the console.
//
// Metrics live in a registry of their own that the process makes and passes
// on; times are histograms in seconds.
//
// Goals: to answer even if the process cannot do its work; to refuse what a page in
// a browser sends from another site, or under a name that was made to resolve to this
// port. Non-goals: users; pages (console).
package admin
