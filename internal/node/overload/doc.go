// Package overload decides which searches a process takes, so that too many of them
// cost neither those under way nor the process.
//
// A gate has as many slots as searches may run at once. A search that finds no free slot
// waits for one, in order, if recent searches suggest that its turn comes within a quarter
// of its time. All others are refused on arrival, before any work is done for them. The
// number of slots adapts: it grows while searches wait and goroutines get a processor at
// once, and shrinks when goroutines wait long for one, or when those who are asked in turn
// (the slaves of a master) refuse.
//
// Priorities and tenants differ in how full the gate may be when they enter, not in the
// order of what has entered.
//
// Goals: refusals that cost next to nothing; an idle gate admits everything at once; no
// figure to be tuned by hand. Non-goals: rates, quotas, fairness by the cost of searches.
package overload
