// Package strategy holds the balancing strategies, one file each, each with
// its source; those that are there for comparison only are in package compared, below it. A strategy reads the model, the items' weights and the measured
// loads and proposes operations with a reason for each, and a reason for each
// hot slice that it leaves in place; package balance checks and applies them.
//
// To add one: a file with the strategy, its name at the end of forClusters and in read (named.go), a line
// in Summary (summary.go), a row in docs/strategies.md. Property tests, the simulator and the audit draw
// from Names. One that is there for comparison only goes into package compared.
//
// Goals: the same input gives the same proposal; a balanced system stops
// moving; reasons are readable. Non-goals: moving data, timing,
// state on disk. What a strategy remembers from one iteration to the next is in the
// proposal and the input (Proposal.Memory).
package strategy
