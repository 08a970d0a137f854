// Package transfer drives each move of a slice from its start to its end. Models go in (Took), with
// what slaves hold (Arrived) and what was found of it (Compared, Differs); out come the operations that are due
// (AddDue) and what is to stay away from where (Out).
package transfer
