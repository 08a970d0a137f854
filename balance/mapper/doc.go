// Package mapper keeps the model of a cluster. Messages of slaves, masters, distributors and operators go in
// (Join, Report, Master, Certified, Move, …), each with the time. Data to save and to send come out (Out).
// The caller must call Tick no later than the time that Next returns.
//
// Mapper connects machines with states of their own. All of them read the cluster (package cluster), which
// the mapper keeps up to date: maps has models saved and published, plan decides what is to move, transfer
// drives moves, replicas decides which slaves serve which shard, verify compares copies with the source of
// truth. Orders of operators are accepted or rejected at once, and executed with the next change of the
// model.
package mapper
