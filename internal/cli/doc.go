// Package cli puts together the program adshard, which has all commands. What a
// command does is in the packages below, by topic, and the work is done in those
// that they call. Its tests run whole commands.
//
// Goals: help that teaches by examples, errors that say what to do, output
// that scripts can rely on. Non-goals: algorithms, wire formats.
package cli
