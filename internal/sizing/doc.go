// Package sizing computes the cheapest grid of shards and replicas that holds a number of keywords and answers a
// number of queries in time, from measured figures. docs/decisions/018-size.md has the model.
//
// Goals: every term of the model is a measured figure or a stated assumption, and can be compared with a measurement.
// Non-goals: measuring; machines that differ from each other; prices other than the number of machines.
package sizing
