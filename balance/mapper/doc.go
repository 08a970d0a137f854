// Package mapper keeps the model of a cluster. Messages of slaves, masters, distributors and
// operators go in (Join, Report, Master, Certified, Move, …), each with the time; what is to be saved
// and sent comes out (Out). The caller calls Tick by the time that Next returns.
//
// Mapper routes between machines with states of their own. All read the cluster (package cluster),
// which the mapper keeps: maps has models saved and published, plan decides what is to move, transfer drives
// moves, replicas decides who serves what, verify compares copies with the source of truth. Orders of
// operators are accepted or refused at once and executed with the next change of the model.
package mapper
