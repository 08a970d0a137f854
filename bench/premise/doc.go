// Package premise tests the premise of the master thesis (Balancing Keyword-Based Data and
// Queries) on a cluster of real processes: part of the auction is computed for each matching
// keyword, and is expensive. A log whose topics shift is asked with scorers that cost more and
// more per candidate, and with one strategy after another.
//
// Each slave has a share of a processor of its own, set by a control group. Otherwise, slaves
// on one machine would lend each other their cores, and balance would not show. The rate is a
// share of what a placement by size, in which nothing moves, answers in time.
//
// Goals: how expensive a candidate must be for balancing to pay off, and with which strategy.
// Non-goals: what machines on a network add; models that predict anything.
package premise
