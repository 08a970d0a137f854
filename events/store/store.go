// Package store defines the database that keeps events. It keeps each event once, by its id, and sums
// of what the events count for. The sums change in the transaction that makes an event durable. So an
// event is in both or in neither, whatever is killed.
//
// An event is kept for a while and then folded: one transaction removes it and adds it to the counts of
// its keyword, ad, position and day. The counts stay. So each event is either kept or counted, and the
// sums by campaign and day always include both.
//
// Stores: sqlite and postgres below this package; storetest is the conformance suite of both. Goals:
// when Add returns, an event is durable and counted once, for all processes. Non-goals: the meaning of
// tokens, budgets, the names of what is counted.
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

// The kinds. Databases have these numbers.
const (
	Impression Kind = 1 // the ad was seen
	Click      Kind = 2
)

// Day is a day of an advertiser's calendar, in days since 1970-01-01.
type Day int32

// DayOf returns the day of a date, as in "2026-11-23".
func DayOf(date string) Day {
	t, _ := time.Parse(time.DateOnly, date) // cannot fail for a date of budget.Day
	return Day(t.Unix() / (24 * 60 * 60))
}

// Event is an impression or a click of one token.
type Event struct {
	ID    token.ID
	Kind  Kind
	Day   Day // the day on which it counts
	Token token.Token
}

// Outcome says what Add did with an event.
type Outcome uint8

// The outcomes.
const (
	Counted   Outcome = iota // the event is new; it is durable and in the sums
	Duplicate                // the event was counted before, and is not counted again
	Forgotten                // the event was erased, or is too old to tell whether it was counted before
)

// Sum is the total of the events of a campaign and day.
type Sum struct {
	Campaign            uint64
	Day                 Day
	Impressions, Clicks uint64
	Spend               uint64 // the prices of the clicks, in micros
}

// Mark says that a campaign was marked as exhausted because of what it spent on a day.
type Mark struct {
	Campaign uint64
	Day      Day
}

// Store keeps events. It is safe for use by several goroutines and processes.
//
// Errors: fault.Unavailable, fault.Locked, fault.NoSpace, fault.Corrupt; those of ctx.
type Store interface {
	// Add makes new events durable and adds them to the sums; it does so for all events or for none.
	// Errors: fault.Invalid if Validate rejects the events. After any other error it is unknown whether
	// they were added; it is safe to add the same events again.
	Add(ctx context.Context, events []Event) ([]Outcome, error)
	// Sums returns the sums of the given campaigns, or of all campaigns if none is given, from a day
	// on, in the order of campaigns and days.
	Sums(ctx context.Context, from Day, campaigns ...uint64) ([]Sum, error)
	// Forget first makes Add reject tokens served before a given second, permanently. Then it folds up
	// to limit of their events, the oldest first: the events are removed, and their counts stay. It
	// returns the number of events removed. It never goes beyond the second of the newest event
	// (Horizon).
	Forget(ctx context.Context, before time.Time, limit int) (int, error)
	// Report calls row with each row of a report, in ascending order of advertiser, campaign, keyword,
	// ad, position, Kept, query and day. It does not hold all rows in memory. An error of row ends the
	// report and is returned.
	Report(ctx context.Context, q Query, row func(Row) error) error
	// Erase does the next step of an erasure, which visits up to limit events or rows of counts. From
	// the first step on, Add rejects earlier tokens of the advertiser (Forgotten). A step also
	// subtracts from the sums what it removes. Errors: fault.Invalid if Erasure.Validate fails; after
	// any error the step can be repeated.
	Erase(ctx context.Context, e *Erasure, limit int) (Step, error)
	// ID returns the id of this database of events. It is created with the tables, so a copy has the
	// same id.
	ID(ctx context.Context) (string, error)
	// Claim records the id of the backend database to which the events belong. Errors: fault.Conflict
	// if another id is recorded.
	Claim(ctx context.Context, database string) error
	// Marks returns the marks, by campaign. SetMark sets a campaign's mark. ClearMark removes it,
	// unless a mark of another day has replaced it.
	Marks(ctx context.Context) ([]Mark, error)
	SetMark(ctx context.Context, m Mark) error
	ClearMark(ctx context.Context, m Mark) error
	// Health returns an error if the database cannot be read.
	Health(ctx context.Context) error
	Close() error
}

// Reader reads the data of a Store and changes nothing; it does not even create tables. Its errors and
// its use by several goroutines are as for Store.
type Reader interface {
	// Sums and ID are as for Store.
	Sums(ctx context.Context, from Day, campaigns ...uint64) ([]Sum, error)
	ID(ctx context.Context) (string, error)
	Close() error
}

// Horizon returns the first id that Forget must leave, given the time before which it is to forget and
// the id of the newest event. Events later than the newest one are not forgotten, and Add still accepts
// them, even if the clock of the process that folds is years ahead.
func Horizon(before time.Time, newest token.ID) token.ID {
	if after := newest.TimeOf().Add(time.Second); after.Before(before) {
		before = after
	}
	return token.From(before)
}

// Limits of Add.
const (
	MaxEvents = 10_000
	// MaxPrice is above all possible prices of an auction (bids are at most 10,000 units, modifiers at
	// most +900 %), and small enough that sums do not overflow.
	MaxPrice = 100_000_000_000
	// maxID is the largest id of an entity.
	maxID = math.MaxInt64
)

// Validate returns an error of kind fault.Invalid if an event is not valid. Stores call it.
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

// SumKey identifies the sum that an event is added to.
type SumKey struct {
	Campaign uint64
	Day      Day
}

// Include adds an event to its sum.
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

// Claimed returns the error of Claim if events of one database are claimed for another, or nil if it is
// the same.
func Claimed(of, database string) error {
	if of == database {
		return nil
	}
	return fault.Newf(fault.Conflict, "events: claim", "these are the events of another database (%.40s) than that of the advertisers (%.40s): name another database for events", of, database)
}
