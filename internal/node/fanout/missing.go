package fanout

import (
	"adshard/fault"
	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

var (
	// errSilent is the error of a shard that is left out and not asked.
	errSilent = fault.Classify(fault.Newf(fault.Unavailable, "master: search",
		"the shard has stopped answering; it is left out until it answers a probe"), search.Silent)
	// errExcess is the error of an answer that covers too much and cannot be used.
	errExcess = fault.Classify(fault.Newf(fault.Conflict, "master: search",
		"the shard served more of the ring than the map gives it"), search.Excess)
	// errBehind is the error of an answer that is older than the request asked for.
	errBehind = fault.Newf(fault.Behind, "master: search", "the answer does not hold the changes that were asked for")
	// errNoPage is the error of an answer without counts by filter to a request with placements.
	errNoPage = fault.Newf(fault.Version, "master: search", "the shard's program knows no placements: update it")
	// errNotScored is the error of an answer that names no scorer to a request with one.
	errNotScored = fault.Newf(fault.Version, "master: search", "the shard's program knows no scorers: update the program")
	// errUnreadable is the error of an answer whose hits cannot be shown.
	errUnreadable = fault.Newf(fault.Corrupt, "master: search", "what the shard's hits show is damaged")
)

// outcomes maps errors to what they say about a replica.
var outcomes = fault.Classes[choice.Outcome]{
	Kinds: map[fault.Kind]choice.Outcome{
		fault.Deadline:    choice.GaveUp,
		fault.Cancelled:   choice.GaveUp,
		fault.Unavailable: choice.Broken,
		fault.Overloaded:  choice.Refused,
		fault.Stale:       choice.Outdated,
		fault.Behind:      choice.Unmet,
	},
	Other: choice.Failed,
}

// outcomeOf returns what an error, or nil, says about the replica that was asked.
func outcomeOf(err error) choice.Outcome {
	if err == nil {
		return choice.Full
	}
	return outcomes.Of(err)
}

// reasons maps errors to the reason why a shard is missing.
var reasons = fault.Classes[search.Reason]{
	Kinds: map[fault.Kind]search.Reason{
		fault.Deadline:    search.Late,
		fault.Cancelled:   search.Late,
		fault.Unavailable: search.Unreachable,
		fault.Overloaded:  search.Refused,
		fault.Stale:       search.Outdated,
		fault.Behind:      search.Behind,
		fault.Conflict:    search.Foreign,
		fault.Corrupt:     search.Damaged,
		fault.Version:     search.Version,
	},
	Other: search.Failed,
}

// reason returns why a shard has no answer. A nil err means that no reply came in time.
func reason(err error) search.Reason {
	if err == nil {
		return search.Late
	}
	return reasons.Of(err)
}

// missingShards returns the shards that are missing: those without an answer, and those that served
// less than their part. It drops an answer that covers more than its shard's part, since it does not
// say what belongs to another shard. `served` returns how much of the ring an answer covers, and
// whether damaged data was found.
func missingShards[A any](g *replies[A], served func(*A) (search.Width, bool)) []search.Missing {
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
	// The map does not give widths, so any of the shards may have served too little.
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
