// Package plan decides what is to move. A Planner reads a cluster, asks the strategy once an
// interval, checks what it proposes, and empties shards that drain or are lost; changes of the model
// come out (Due), within the budget. Initial makes the first model.
package plan
