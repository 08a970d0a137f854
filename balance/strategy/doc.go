// Package strategy has the balancing strategies, one per file, each with its source. Those that are only for comparison are in package
// compared, below it. A strategy reads the model, the items' weights and the measured loads. It proposes operations with a reason for each,
// and gives a reason for each hot slice that it leaves in place. Package balance checks and applies the operations.
//
// To add a strategy: write a file with it, add its name at the end of forClusters and to read (named.go), add a line to Summary
// (summary.go), and a row to docs/strategies.md. Property tests, the simulator and the audit use Names. A strategy that is only for
// comparison goes into package compared.
//
// Goals: the same input gives the same proposal; a balanced system stops moving; reasons are readable. Non-goals: moving data, timing,
// state on disk. What a strategy remembers between iterations is in the proposal and the input (Proposal.Memory).
package strategy
