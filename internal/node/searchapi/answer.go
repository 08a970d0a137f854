package searchapi

import (
	"fmt"
	"strings"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

func coverage(found *search.Answer) api.Coverage {
	complete := found.Width == search.WholeRing()
	c := api.Coverage{
		Shards: found.Shards, Answered: found.Answered, Complete: complete,
		PricesExact: complete, AppliedClock: found.AppliedClock, LagMs: uint64(found.Lag.Milliseconds()),
	}
	c.Missing, c.Reasons = missing(found.Missing)
	return c
}

// missing returns the names of the missing shards, and the reasons by name.
func missing(list []search.Missing) (names []string, reasons map[string]api.MissingReason) {
	if len(list) == 0 {
		return []string{}, nil
	}
	reasons = make(map[string]api.MissingReason, len(list))
	for _, m := range list {
		names = append(names, m.Shard)
		reasons[m.Shard] = api.MissingReason(m.Reason.String())
	}
	return names, reasons
}

// listed writes the shards with their reasons: slave-0 (late), slave-1 (silent).
func listed(list []search.Missing) string {
	var texts []string
	for _, m := range list {
		texts = append(texts, fmt.Sprintf("%s (%s)", m.Shard, m.Reason))
	}
	return strings.Join(texts, ", ")
}
