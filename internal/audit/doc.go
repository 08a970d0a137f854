// Package audit holds the proof that no ad is ever missed while it moves: a
// cluster of real processes is asked all the time while strategies switch, data
// change and processes are killed, and every complete answer is compared with
// the slow oracle. It has tests only.
//
// The short form runs with the other tests; `make audit` runs the long one.
//
// Answers are judged by two rules (serving.md §5). Queries whose groups do not
// change have one right answer, the oracle's. Groups that change have words of
// their own; each shows its version, which must be at least as new as the
// answer's applied clock says, and all must be counted, none twice.
package audit
