// Package budget decides how a campaign's daily budget is spent: which day a time belongs to in the
// advertiser's time zone, how much an even spend would have used by then, and with what probability
// the campaign takes part in the next queries so that the budget lasts until the day ends.
// docs/budgets.md explains it to operators.
//
// Goals: the same decisions from the same times and amounts, so that decisions can be replayed;
// days of any length; money in integers.
//
// Non-goals: counting what was spent (package events), reading clocks or time zone files, storing
// decisions. serving.md §10 says what a decision does to an answer.
package budget
