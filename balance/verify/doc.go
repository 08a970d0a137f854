// Package verify compares what slaves hold with the source of truth: what moves (CompareMove),
// what is to serve (CompareJoining), stores that were not closed (SetUnverified), and by and by all that is served.
// Questions come out (Out), answers go in (Answered), and findings come out (Findings): that a
// copy is right, or that it differs.
package verify
