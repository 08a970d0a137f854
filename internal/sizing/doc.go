// Package sizing computes which grid of shards and replicas is the cheapest that holds that
// many keywords and answers so many queries in time, from measured figures.
// docs/decisions/018-size.md has the model.
//
// Goals: every term of the model is a measured figure or a stated assumption, and can be
// compared with a measurement. Non-goals: measuring; machines that differ; prices other
// than the number of machines.
package sizing
