// Package cli assembles the program adshard, which has all commands. What a command does is in the packages below, by
// topic, and the packages that they call do the work. The tests of this package run whole commands.
//
// Goals: help that teaches by examples; errors that say what to do; output that scripts can rely on. Non-goals:
// algorithms, wire formats.
package cli
