package fanout

import (
	"errors"

	"adshard/fault"
	"adshard/search"
)

var (
	// errSilent is why a shard that is left out is not asked.
	errSilent = fault.Newf(fault.Unavailable, "master: search", "the shard has stopped answering; it is left out until it answers a probe")
	// errExcess is why an answer does not count.
	errExcess = fault.Newf(fault.Conflict, "master: search", "the shard served more of the ring than the map gives it")
)

// reason is why a shard without an answer has none; nil: it was too late.
func reason(err error) search.Reason {
	switch {
	case err == nil:
		return search.Late
	case errors.Is(err, errSilent):
		return search.Silent
	case errors.Is(err, errExcess):
		return search.Excess
	}
	switch fault.KindOf(err) {
	case fault.Deadline, fault.Cancelled:
		return search.Late
	case fault.Unavailable:
		return search.Unreachable
	case fault.Overloaded:
		return search.Refused
	case fault.Stale:
		return search.Outdated
	case fault.Conflict:
		return search.Foreign
	case fault.Corrupt:
		return search.Damaged
	}
	return search.Failed
}

// settle returns the shards that are missing: those without an answer, and
// those that served less than their part. An answer that covers more than its
// shard's part is dropped, since what belongs to another shard cannot be told
// apart. served returns how much of the ring an answer covers, and whether it met
// damaged data.
func settle[A any](g *Gather[A], served func(*A) (search.Width, bool)) []search.Missing {
	var missing []search.Missing
	var sum search.Width
	for i := range g.shards {
		s := &g.shards[i]
		if g.answers[i] != nil {
			width, damaged := served(g.answers[i])
			if s.Width == (search.Width{}) || width == s.Width {
				sum = sum.Add(width)
				continue
			}
			if width.Less(s.Width) {
				missing = append(missing, search.Missing{Shard: s.Name, Reason: lacks(damaged)})
				continue
			}
			g.answers[i], g.errs[i] = nil, errExcess
		}
		missing = append(missing, search.Missing{Shard: s.Name, Reason: reason(g.errs[i])})
	}
	if len(missing) > 0 || sum == search.WholeRing() {
		return missing
	}
	// The map does not say how much each is to serve: it may be any of them.
	for i := range g.shards {
		_, damaged := served(g.answers[i])
		missing = append(missing, search.Missing{Shard: g.shards[i].Name, Reason: lacks(damaged)})
	}
	return missing
}

func lacks(damaged bool) search.Reason {
	if damaged {
		return search.Damaged
	}
	return search.Behind
}
