package searchapi

import (
	"fmt"
	"net/url"
	"time"

	"adshard/internal/node/httpapi/api"
)

// saidOf writes the parts of a search other than its text, as parameters of /v1/explain (Observation.Context). They include the time
// `now` if the search has no time of its own. It returns "" if there are no such parts.
func saidOf(b *api.SearchBody, now time.Time) string {
	p, q := searchContext(b.SearchParams), url.Values{}
	for name, list := range map[string]api.Values{
		"location": p.location, "interest_location": p.interest, "point": p.point, "time": p.time, "language": p.language, "audience": p.audience,
		"site": p.site, "block": p.block, "block_advertiser": p.advertiser, "block_domain": p.domain, "block_category": p.category,
	} {
		for _, v := range list {
			if lat, lon, ok := pointOf(v.Raw); v.Kind == api.Object && ok {
				v.Raw = lat + "," + lon
			}
			q.Add(name, v.Raw)
		}
	}
	if p.uncategorised {
		q.Set("block_uncategorised", "true")
	}
	usual := api.NewSearchBody()
	for _, f := range []struct {
		name         string
		value, usual any
	}{
		{"slots", b.Slots, usual.Slots}, {"device", b.Device, usual.Device}, {"variants", b.Variants, usual.Variants},
		{"per_advertiser", b.PerAdvertiser, usual.PerAdvertiser},
	} {
		if f.value != f.usual {
			q.Set(f.name, fmt.Sprint(f.value))
		}
	}
	q["placement"] = b.Placements
	if len(b.Placements) == 0 {
		delete(q, "placement")
	}
	if len(q) > 0 && len(p.time) == 0 {
		q.Set("time", now.UTC().Format(time.RFC3339))
	}
	return q.Encode()
}
