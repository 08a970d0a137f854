// Package querylog writes down what masters are asked: searches that were slow, with
// where their time went (Slow), and a sample of all, to be replayed (Recorder).
//
// Both hold what users typed, so both are off unless they are asked for. Neither makes a
// search wait: what exceeds their bounds is left out and counted.
package querylog
