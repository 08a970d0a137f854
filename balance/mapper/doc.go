// Package mapper keeps the model of a cluster. Messages of slaves, masters, distributors and
// operators go in (Join, Report, Master, Certified, Move, …), each with the time; what is to be saved
// and sent comes out (Out). The caller calls Tick by the time that Next returns.
//
// Mapper routes between six machines. Each has state of its own and is tested by itself; all read
// the cluster (the newest model, the items, what slaves reported), which the mapper keeps.
//
//   - views: has every new model saved before it is sent, stamps quanta with the clock of the
//     last change it saw (thesis 6.3.3; docs/sources.md), and publishes views.
//   - planner: runs the strategy and decides, within the budget, what is to move.
//   - moves: drives each move to its end.
//   - membership: which slaves are replicas of which shards.
//   - orders: accepts or refuses what operators order, and executes it with the next change.
//   - verifier: compares what slaves hold with the source of truth.
package mapper
