package events

import (
	"context"
	"time"

	"adshard/events/store"
)

// eraseTogether is how many events or counts a step of an erasure looks at: some milliseconds,
// for which others wait.
const eraseTogether = 5000

// Erase removes what is known of an advertiser: its events and counts, and what they are in
// sums. Earlier tokens count no more, also those of a master whose clock is ahead by Skew:
// refused is when what is served counts again. Campaigns are the advertiser's. Killed at any
// moment and done again, it removes the rest. each, which may be nil, is called after
// each step.
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
