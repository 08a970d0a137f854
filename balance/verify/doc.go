// Package verify compares the data of slaves with the source of truth: slices that move (CompareMove), slices of a
// slave that is to join a set (CompareJoining), stores that were not closed (SetUnverified) and, over time, all
// data that are served. Questions come out (Out), answers go in (Answered), and findings come out (Findings): a
// copy is right, or it differs.
package verify
