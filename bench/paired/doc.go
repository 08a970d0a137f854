// Package paired compares ways to store keywords (layouts.Layout): it is the
// master thesis' first experiment (Balancing Keyword-Based Data and Queries,
// chapter 7), in pairs, because machines are noisy.
//
// All layouts are built in one process, one after the other, and stay open. Each
// is asked every query of every setup, and its answers are compared with a count
// over all keywords; a difference ends the run. Then come rounds. In each, every
// layout has its turn on the same queries, in an order that changes from round to
// round, so that a machine that is slow for a while is slow for all. A figure is
// the median of the rounds, with the least and the most; a ratio is the median of
// the rounds' own ratios, over the queries that both were asked.
//
// A turn is as many whole passes through the setup's queries as fit into its time.
// A layout that needs more than four times this time for one pass is stopped, and
// its next turn begins elsewhere. Times are from one reading of the clock to the
// next, minus the cost of a reading. Where a peer reports its own time, that time
// is used (layouts.Timed).
//
// With one thread, Go has one processor (GOMAXPROCS 1): garbage collection and
// Go's other work count as part of the work. The goroutine is not locked to a
// thread: with one processor, no other goroutine takes its place, and answers of
// peers would come later by a switch of threads.
//
// Goals: nothing is measured that was not first shown to be correct; the same work
// at the same time for all; figures with their spread. Non-goals: a network
// between, many processes, sets that do not fit in memory with all layouts open
// (measure fewer at a time and join the results).
package paired
