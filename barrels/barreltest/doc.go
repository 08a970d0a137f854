// Package barreltest is the conformance suite of barrels.Store: one test for each clause of the
// contract, run on both barrels/memory and barrels/rocks, with the slow oracle (internal/oracle) as
// the judge of answers.
//
// It is only for tests.
package barreltest
