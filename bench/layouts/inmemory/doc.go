// Package inmemory holds keywords in memory in two ways, between which all
// others lie.
//
// Structs is what a good Go programmer writes without a database: keywords as
// structs in a map by their rarest word. Floor is the limit that the hardware
// sets for this idea (an anchor each, postings verified): it counts matches,
// and nothing else.
//
// Goals: a measure for the layouts on disk. Non-goals: surviving a restart.
package inmemory
