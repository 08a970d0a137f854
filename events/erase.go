package events

import (
	"context"
	"time"

	"adshard/events/store"
)

// eraseTogether is the number of events or counts that one step of an erasure visits. A step makes
// other writers wait for some milliseconds.
const eraseTogether = 5000

// Erase removes the events and counts of an advertiser, also from sums. Tokens from before
// `refused` no longer count; this includes tokens of a master whose clock is ahead by up to Skew.
// campaigns are the advertiser's campaigns. After an interruption, call it again to remove the
// rest. It calls `each`, unless that is nil, after each step.
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
