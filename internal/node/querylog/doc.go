// Package querylog records what masters are asked: slow searches, with where their time went
// (Slow), and a sample of all searches, to be replayed (Recorder).
//
// Both record what users typed, so both are off by default. Neither makes a search wait: what
// exceeds their bounds is left out and counted.
package querylog
