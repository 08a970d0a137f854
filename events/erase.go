package events

import (
	"context"
	"time"

	"adshard/events/store"
)

// eraseTogether is the number of events or counts visited by a step of an erasure. A step makes
// others wait for some milliseconds.
const eraseTogether = 5000

// Erase removes an advertiser's events and counts, also from sums. Earlier tokens no longer count,
// even those of a master whose clock is ahead by up to Skew; ads served after refused count again.
// campaigns are the advertiser's. After an interruption at any moment, repeating it removes the
// rest. each, which may be nil, is called after each step.
func Erase(ctx context.Context, s store.Store, advertiser uint64, campaigns []uint64, now time.Time, each func(store.Step)) (all store.Step, refused time.Time, err error) {
	refused = now.Add(Skew).Truncate(time.Second).Add(time.Second)
	e := store.Erasure{Advertiser: advertiser, Campaigns: campaigns, Before: refused}
	for e.Part != store.Erased {
		did, err := s.Erase(ctx, &e, eraseTogether)
		if err != nil {
			return all, refused, err
		}
		all.Events, all.Counts = all.Events+did.Events, all.Counts+did.Counts
		if each != nil {
			each(all)
		}
	}
	return all, refused, nil
}
