// Package barreltest is the conformance suite of barrels.Store: one test a
// clause of the contract, run on barrels/memory and barrels/rocks alike, with
// the slow oracle (internal/oracle) as the judge of answers.
//
// It is for tests only.
package barreltest
