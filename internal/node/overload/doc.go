// Package overload decides which searches a process accepts, so that too many of them harm neither
// the searches under way nor the process.
//
// A gate has as many slots as searches may run at once. A search that finds no free slot waits for
// one, in order, if recent searches suggest that its turn comes within a quarter of its time. All
// other searches are refused on arrival, before any work is done for them. The number of slots
// adapts: it grows while searches wait and goroutines get a processor at once. It shrinks when
// goroutines wait long for a processor, or when the processes that searches ask in turn (the slaves
// of a master) refuse.
//
// Priorities and tenants matter only for how full the gate may be when a search enters, not for the
// order of searches that have entered.
//
// Goals: refusals that cost next to nothing; an idle gate admits everything at once; no number to
// be tuned by hand. Non-goals: rates, quotas, fairness by the cost of searches.
package overload
