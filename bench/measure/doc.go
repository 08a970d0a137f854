// Package measure holds what the measuring commands share: latencies in
// histograms, reports as tables and JSON, and the resource use of processes.
//
// Goals: figures that can be compared from run to run, with their spread.
// Non-goals: running measurements.
package measure
