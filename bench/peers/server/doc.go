// Package server runs the process of another system that is measured. It starts the
// process, as another user if need be, ends it, and reports the memory of the process and
// its children. A process ends when this one does.
//
// Goals: nothing is left behind. Non-goals: restarts; readiness, which each peer checks
// itself.
package server
