// Package events counts impressions and clicks of ads that were served: it opens the tokens
// that come back with them (package token), decides which count, and gives these to a store
// (package store), which keeps each once. Budgets says which campaigns have spent theirs, and Pacing in which
// share of the requests those take part whose budgets are to last for the day.
//
// docs/events.md has what counts and what does not, and docs/decisions/030-events.md why.
//
// Goals: what was acknowledged is counted once, whatever is killed and however often it is
// sent. Non-goals: HTTP, and finding out whether a person has clicked.
package events
