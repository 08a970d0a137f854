// Package paired measures ways in which keywords can lie (layouts.Layout)
// beside each other: the master thesis' first experiment (Balancing
// Keyword-Based Data and Queries, chapter 7), in pairs, because machines are
// noisy.
//
// All layouts are built in one process, one after the other, and stay open.
// Each is asked every query of every setup, and what it finds is compared with a
// count over all keywords; a difference ends the run. Then come rounds: in each,
// every layout has its turn on the same queries, in an order that changes from
// round to round, so that a machine that is slow for a while is slow for all. A
// figure is the median of the rounds, with the least and the most; a ratio is
// the median of the rounds' own ratios, over the queries that both were asked.
//
// A turn is as many whole passes through the setup's queries as fit in its time;
// a layout that is too slow for one within four times its time is stopped,
// and its next turn begins elsewhere. Times are from one look at the clock to
// the next, less what a look costs; what a peer says it took is believed
// (layouts.Timed).
//
// With one thread Go has one processor (GOMAXPROCS 1): collecting garbage and
// whatever else Go does counts as part of the work. The goroutine is not locked to
// a thread: with one processor none takes its place, and answers of peers would
// come later by a change of threads.
//
// Goals: nothing measured that was not first shown to be right; the same work at
// the same time for all; figures with their spread. Non-goals: a network
// between, many processes, sets that do not fit in memory with all layouts open
// (ask for fewer at a time and join the results).
package paired
