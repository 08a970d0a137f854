// Package inmemory holds keywords in memory in two ways that are the two
// extremes for all layouts.
//
// Structs is what a good Go programmer would write without a database:
// keywords as structs in a map by their rarest word. Floor is the limit that
// the hardware sets to this idea (one anchor per keyword, postings verified):
// it counts matches and does nothing else.
//
// Goals: a yardstick for the layouts on disk. Non-goals: surviving a restart.
package inmemory
