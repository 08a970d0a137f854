// Package measure holds what the measuring commands share: latencies in
// histograms, reports as tables and JSON, and what a process uses.
//
// Goals: figures that can be compared from run to run, with their spread.
// Non-goals: measuring itself.
package measure
