package events

import (
	"context"
	"errors"
	"time"

	"adshard/events/store"
	"adshard/events/token"
)

// Times of tokens.
const (
	// Lifetime is how long after an ad was served its events count.
	Lifetime = time.Hour
	// Skew is how far the clock of a master may be ahead of this one's.
	Skew = time.Minute
	// Remembered is the least time for which events are kept for recognising duplicates: longer
	// than tokens live, by as much as the clock of the process that folds may be ahead.
	Remembered = 2 * Lifetime
)

// Rotation of keys. A new one is known for a while before it signs, longer than Refresh.
var rotation = token.Rotation{Every: 24 * time.Hour, Lead: 15 * time.Minute, Keep: 2 * Lifetime}

// Given is an event as it comes in.
type Given struct {
	Kind  store.Kind
	Token string
}

// Outcome is the result for an event.
type Outcome uint8

// The outcomes.
const (
	Counted   Outcome = iota // it is durable and counted
	Duplicate                // it was counted before
	Late                     // its ad was served too long ago
	Future                   // its ad was served in the future by this clock; sent again later, it may count
	Forged                   // its token was not made by this cluster
	Malformed                // it is not a token
	Outcomes                 // the number of outcomes
)

// String returns the outcome's name as used in answers and metrics.
func (o Outcome) String() string {
	return [...]string{"counted", "duplicate", "late", "future", "forged", "malformed"}[o]
}

// Counter counts events. It is safe for use by several goroutines.
type Counter struct {
	Store store.Store
	Keys  *Keys
	Zones Zones
	Now   func() time.Time
	// Durable is called with the durable and counted events of each batch, duplicates included: the
	// process that counted them may have been killed before it passed them on. nil: not called.
	Durable func([]store.Event)
	// Keep is how long events are kept before they are folded, if that is longer than Remembered.
	Keep time.Duration
}

// Count counts all events of a batch or none, and returns the outcome of each. After an error it is
// unknown whether they count; counting them again is right in both cases. Errors: those of the
// store, of the keys and of the zones.
func (c *Counter) Count(ctx context.Context, given []Given) ([]Outcome, error) {
	out := make([]Outcome, len(given))
	events := make([]store.Event, 0, len(given))
	at := make([]int, 0, len(given)) // of each of events, in given
	now := c.Now()
	for i := range given {
		e, o, err := c.judge(ctx, &given[i], now)
		if err != nil {
			return nil, err
		}
		if out[i] = o; o == Counted {
			events, at = append(events, e), append(at, i)
		}
	}
	if len(events) == 0 {
		return out, nil
	}
	if err := setDays(ctx, c.Zones, events); err != nil {
		return nil, err
	}
	found, err := c.Store.Add(ctx, events)
	if err != nil {
		return nil, err
	}
	durable := events[:0]
	for i, o := range found {
		out[at[i]] = outcomeOf(o)
		if o != store.Forgotten {
			durable = append(durable, events[i])
		}
	}
	if c.Durable != nil {
		c.Durable(durable)
	}
	return out, nil
}

func outcomeOf(o store.Outcome) Outcome {
	return [...]Outcome{store.Counted: Counted, store.Duplicate: Duplicate, store.Forgotten: Late}[o]
}

// judge returns the event of a token, without its day, and its outcome; Counted: unless it is a
// duplicate.
func (c *Counter) judge(ctx context.Context, g *Given, now time.Time) (store.Event, Outcome, error) {
	t, id, err := c.Keys.Open(ctx, []byte(g.Token))
	switch {
	case err == nil:
	case errors.Is(err, token.ErrMalformed):
		return store.Event{}, Malformed, nil
	case errors.Is(err, token.ErrForged), errors.Is(err, token.ErrUnknownKey):
		return store.Event{}, Forged, nil
	default:
		return store.Event{}, 0, err
	}
	e := store.Event{ID: id, Kind: g.Kind, Token: t}
	switch age := now.Sub(t.Served); {
	case store.Validate([]store.Event{e}) != nil: // signed, but with impossible values
		return e, Forged, nil
	case age > Lifetime:
		return e, Late, nil
	case age < -Skew:
		return e, Future, nil
	}
	return e, Counted, nil
}

// Forget folds the events past their time whose tokens have expired, some thousand at a time: their
// counts stay.
func (c *Counter) Forget(ctx context.Context) error {
	const limit = 5000
	before := c.Now().Add(-max(Remembered, c.Keep))
	for {
		n, err := c.Store.Forget(ctx, before, limit)
		if err != nil || n < limit {
			return err
		}
	}
}
