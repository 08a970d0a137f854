// Package events counts impressions and clicks of ads that were served. It opens their tokens
// (package token), decides which of them count, and passes them to a store (package store),
// which keeps each once. Budgets marks campaigns that have spent their budget. Pacing sets the
// share of requests in which a campaign takes part, so that its budget lasts for the day.
//
// docs/events.md says which events count, and docs/decisions/030-events.md says why.
//
// Goals: an acknowledged event is counted once, whatever is killed and however often the event
// is sent. Non-goals: HTTP, and finding out whether a person has clicked.
package events
