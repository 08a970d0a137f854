// Package store is the contract of events with the database that keeps them: each event
// once, by its id, and sums of what they count for, which change in the transaction that
// makes the event durable. So no event is in one and not in the other, whatever is killed.
//
// An event is kept for a while and then folded: one transaction removes it and adds it to the
// counts of its keyword, ad, position and day, which stay. So each event is either kept or counted,
// and the sums by campaign and day are those of both together.
//
// Stores: sqlite and postgres below this package; storetest is the conformance suite of
// both. Goals: an event is durable and counted when Add returns, once for all processes.
// Non-goals: what tokens mean, budgets, names of what is counted.
package store

import (
	"context"
	"math"
	"time"

	"adshard/events/token"
	"adshard/fault"
)

// Kind is the kind of an event.
type Kind uint8

// The kinds. The numbers are in databases.
const (
	Impression Kind = 1 // the ad was seen
	Click      Kind = 2
)

// Day is a day of an advertiser's calendar, in days since 1970-01-01.
type Day int32

// DayOf returns the day of a date, as in "2026-11-23".
func DayOf(date string) Day {
	t, _ := time.Parse(time.DateOnly, date) // as budget.Day has it
	return Day(t.Unix() / (24 * 60 * 60))
}

// Event is one kind of event of one token.
type Event struct {
	ID    token.ID
	Kind  Kind
	Day   Day // the day for which it counts
	Token token.Token
}

// Outcome is what Add did with an event.
type Outcome uint8

// The outcomes.
const (
	Counted   Outcome = iota // it is new, durable and in the sums
	Duplicate                // it was counted before, and is not counted again
	Forgotten                // it was erased, or is too old to tell whether it was counted before
)

// Sum is the total of the events of a campaign and day.
type Sum struct {
	Campaign            uint64
	Day                 Day
	Impressions, Clicks uint64
	Spend               uint64 // the prices of the clicks, in micros
}

// Mark says that a campaign was marked as exhausted for what it spent on a day.
type Mark struct {
	Campaign uint64
	Day      Day
}

// Store keeps events. It is safe for use by several goroutines and processes.
//
// Errors: fault.Unavailable, fault.Locked, fault.NoSpace, fault.Corrupt; ctx's.
type Store interface {
	// Add makes new events durable and adds them to the sums, all or none of them. Errors:
	// fault.Invalid as Validate says. After any other error it is unknown whether it happened;
	// Add of the same events again is right in both cases.
	Add(ctx context.Context, events []Event) ([]Outcome, error)
	// Sums returns the sums of campaigns from a day on, in order of campaign and day;
	// without campaigns those of all.
	Sums(ctx context.Context, from Day, campaigns ...uint64) ([]Sum, error)
	// Forget makes Add refuse tokens served before a second, permanently, and then folds up to
	// limit of their events, the oldest first: they are removed, and their counts stay. It returns
	// how many were removed. It does not go beyond the second of the newest event (Horizon).
	Forget(ctx context.Context, before time.Time, limit int) (int, error)
	// Report calls row with the rows of a report, by ascending advertiser, campaign, keyword, ad,
	// position, Kept, query and day, without holding them. An error of row ends it.
	Report(ctx context.Context, q Query, row func(Row) error) error
	// Erase does the next step of an erasure, which looks at up to limit events or rows of
	// counts. From the first step on Add refuses the advertiser's earlier tokens (Forgotten).
	// What a step removes is taken off the sums with it. Errors: fault.Invalid as
	// Erasure.Validate says; after any error the step can be repeated.
	Erase(ctx context.Context, e *Erasure, limit int) (Step, error)
	// ID returns the id of this database of events, which is made with its tables: a copy has the same.
	ID(ctx context.Context) (string, error)
	// Claim records the id of the backend database that the events belong to; fault.Conflict: it is
	// another one.
	Claim(ctx context.Context, database string) error
	// Marks returns the marks by campaign; SetMark sets a campaign's mark, ClearMark removes it,
	// unless it was replaced by one of another day.
	Marks(ctx context.Context) ([]Mark, error)
	SetMark(ctx context.Context, m Mark) error
	ClearMark(ctx context.Context, m Mark) error
	// Health returns nil if the database can be read.
	Health(ctx context.Context) error
	Close() error
}

// Reader reads what a Store keeps, and changes nothing: not even tables are made. Errors and concurrency
// are as of Store.
type Reader interface {
	// Sums and ID are those of Store.
	Sums(ctx context.Context, from Day, campaigns ...uint64) ([]Sum, error)
	ID(ctx context.Context) (string, error)
	Close() error
}

// Horizon returns the id from which on Forget leaves events, given that of the newest one. Later
// events were not removed, and Add goes on accepting them, even if the clock of the process that
// folds is years ahead.
func Horizon(before time.Time, newest token.ID) token.ID {
	if after := newest.TimeOf().Add(time.Second); after.Before(before) {
		before = after
	}
	return token.From(before)
}

// Limits of Add.
const (
	MaxEvents = 10_000
	// MaxPrice is above all prices of an auction (bids are at most 10,000 units, modifiers +900 %),
	// and small enough for sums to fit.
	MaxPrice = 100_000_000_000
	// maxID is the largest id of an entity.
	maxID = math.MaxInt64
)

// Validate returns what is wrong with events, as fault.Invalid. Stores call it.
func Validate(events []Event) error {
	const op = "events: add"
	if len(events) > MaxEvents {
		return fault.Newf(fault.Invalid, op, "%d events: at most %d", len(events), MaxEvents)
	}
	for i := range events {
		e := &events[i]
		t := &e.Token
		switch {
		case e.Kind != Impression && e.Kind != Click:
			return fault.Newf(fault.Invalid, op, "event %d has the kind %d", i, e.Kind)
		case t.Price > MaxPrice:
			return fault.Newf(fault.Invalid, op, "event %d has a price of %d micros: at most %d", i, t.Price, uint64(MaxPrice))
		case max(t.Advertiser, t.Campaign, t.Keyword, t.Ad) > maxID:
			return fault.Newf(fault.Invalid, op, "event %d has an id that no entity has", i)
		}
	}
	return nil
}

// SumKey is the sum that an event belongs to.
type SumKey struct {
	Campaign uint64
	Day      Day
}

// Include adds an event to the sums by key.
func Include(sums map[SumKey]Sum, e *Event) {
	key := SumKey{e.Token.Campaign, e.Day}
	s := sums[key]
	s.Campaign, s.Day = key.Campaign, key.Day
	if e.Kind == Click {
		s.Clicks++
		s.Spend += e.Token.Price
	} else {
		s.Impressions++
	}
	sums[key] = s
}

// Claimed is what Claim returns for events that belong to another database.
func Claimed(of, database string) error {
	if of == database {
		return nil
	}
	return fault.Newf(fault.Conflict, "events: claim", "these are the events of another database (%.40s) than that of the advertisers (%.40s): name another database for events", of, database)
}
