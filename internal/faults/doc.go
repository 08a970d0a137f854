// Package faults lets clusters of real processes suffer faults that are drawn from seeds, while they are queried,
// changed and balanced, and checks all their answers. It has only tests.
//
// A schedule is data: its text is printed, and its seed draws it again. The whole schedule is drawn before there is a
// cluster, and faults that the machine does not allow are left out before the first fault, so nothing depends on the
// state of the cluster. A fault is one small type that does something to a cluster and undoes it (fault_test.go has
// the contract and the table of all kinds). Faults of a schedule overlap, but never on one process: there they follow
// each other in the order of the schedule.
//
// These are checked for each schedule:
//
//   - every complete answer is the oracle's (package clustertest)
//   - what was acknowledged is there at the end, and nothing twice
//   - when all faults are over the cluster becomes whole, and all replicas are equal to the
//     database
//   - after that, commands that were refused meanwhile are carried out
//   - no process panics, or ends although no fault affects it; memory, open
//     files and directories are bounded
//
// Answers that are incomplete, refused or missing are counted by the faults at the time, and so is the time until the
// cluster is whole; docs/reliability.md has the table.
//
// Processes have hosts of their own: network namespaces if the machine allows them, so that links can be cut, or else
// addresses of loopback. A fault that needs more than the machine allows is left out and counted as such.
package faults
