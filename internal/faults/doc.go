// Package faults has clusters of real processes suffer faults that are drawn from seeds,
// while they are asked, changed and balanced, and judges everything that they answer.
// It has tests only.
//
// A schedule is data: its text is printed, and its seed draws it again. All of it is drawn
// before there is a cluster, and what the machine does not allow is left out before the
// first fault: nothing depends on what has become of the cluster. A fault is one
// small type that does something to a cluster and undoes it (fault_test.go has the
// contract and the table of all kinds). Faults of a schedule overlap, but never on one
// process: there they follow each other in the order of the schedule.
//
// Checked of each schedule:
//
//   - every complete answer is the oracle's (package clustertest)
//   - what was acknowledged is there at the end, nothing twice
//   - when all faults are over the cluster becomes whole, and all replicas equal the
//     database
//   - then commands that were refused meanwhile are followed
//   - no process panics, or ends by itself though no fault touches it, and memory, open
//     files and directories are bounded
//
// Answers that are incomplete, refused or missing are counted by the faults under way,
// and so is the time until the cluster is whole: docs/reliability.md has the table.
//
// Processes have hosts of their own: network namespaces where the machine allows them,
// so that links can be cut, else addresses of loopback. A fault that needs more than the
// machine allows is left out, and counted as such.
package faults
