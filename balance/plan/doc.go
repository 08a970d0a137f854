// Package plan decides which slices are to move. A Planner reads a cluster, asks the strategy once
// per interval, checks its proposals, and empties shards that drain or are lost. It returns changes
// of the model (Due) that stay within the budget. Initial makes the first model.
package plan
