// Package transfer drives each move of a slice from its start to its end. Models go in (Took), with the tables
// of slaves (Arrived) and the results of comparisons (Compared, Differs). Out come the operations that are due
// (AddDue), and the keys that must stay away from a shard (Out).
package transfer
