// Package premise puts the premise of the master thesis (Balancing Keyword-Based Data and
// Queries) on a cluster of real processes: part of the auction is computed for each
// keyword that matches, and is expensive. Models of a scorer that cost more and more a candidate
// are asked a log whose topics shift, with one strategy after the other.
//
// Each slave has a share of a processor of its own, by a control group: without one,
// slaves on one machine lend each other their cores, and balance would not show. The rate is
// a share of what a placement by size, which nothing moves, answers in time.
//
// Goals: from which cost of a candidate on is balancing worth it, and which strategy.
// Non-goals: what machines on a network add; models that predict anything.
package premise
