// Package budget decides how a campaign's daily budget is spent: which day a time
// belongs to in the advertiser's time zone, what an even spend would have come to by
// then, and with what probability the campaign takes part in the next queries so that
// it lasts until the day ends. docs/budgets.md explains it to those who run it.
//
// Goals: the same decisions from the same times and amounts, so that they can be
// replayed; days of any length; money in integers.
//
// Non-goals: to count what was spent (package events does), to read clocks or time zones' files, to write
// decisions down. What a decision does to an answer is serving.md §10.
package budget
