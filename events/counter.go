package events

import (
	"context"
	"errors"
	"time"

	"adshard/events/store"
	"adshard/events/token"
)

// Times for tokens.
const (
	// Lifetime is how long the events of an ad count after it was served.
	Lifetime = time.Hour
	// Skew is how far the clock of a master may be ahead of this one.
	Skew = time.Minute
	// Remembered is the least time for which events are kept to recognise duplicates. It is longer
	// than the lifetime of tokens, since the clock of the process that folds may be ahead.
	Remembered = 2 * Lifetime
)

// rotation is the schedule of the keys. A new key is known for Lead before it signs, which is
// longer than Refresh.
var rotation = token.Rotation{Every: 24 * time.Hour, Lead: 15 * time.Minute, Keep: 2 * Lifetime}

// Given is an event as it is received.
type Given struct {
	Kind  store.Kind
	Token string
}

// Outcome says what became of an event.
type Outcome uint8

// The outcomes.
const (
	Counted   Outcome = iota // the event is durable and counted
	Duplicate                // it was counted before
	Late                     // the ad was served too long ago
	Future                   // the ad was served in the future, by this clock; the event may count if it is sent again later
	Forged                   // the token was not made by this cluster
	Malformed                // the token cannot be parsed
	Outcomes                 // the number of outcomes
)

// String returns the outcome's name, as in answers and metrics.
func (o Outcome) String() string {
	return [...]string{"counted", "duplicate", "late", "future", "forged", "malformed"}[o]
}

// Counter counts events. It is safe for use by several goroutines.
type Counter struct {
	Store store.Store
	Keys  *Keys
	Zones Zones
	Now   func() time.Time
	// Durable, if it is not nil, is called with the events of each batch that are durable and counted.
	// Duplicates are among them, since the process that counted them may have been killed before it
	// passed them on.
	Durable func([]store.Event)
	// Keep is how long events are kept before they are folded, if it is longer than Remembered.
	Keep time.Duration
}

// Count counts all events of a batch or none, and returns the outcome of each. After an error it is
// unknown whether they were counted; it is safe to count them again. Errors: those of the store, of
// the keys and of the zones.
func (c *Counter) Count(ctx context.Context, given []Given) ([]Outcome, error) {
	out := make([]Outcome, len(given))
	events := make([]store.Event, 0, len(given))
	at := make([]int, 0, len(given)) // the index in given of each of events
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

// judge returns the event of a token, without its day, and its outcome. The outcome is Counted for
// events that count unless they are duplicates.
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

// Forget folds the events that are past their time and whose tokens have expired, a few thousand at
// a time. Their counts stay.
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
