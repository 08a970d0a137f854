package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// body is the request as the JSON of a POST.
func (r *SearchRequest) body() (map[string]any, error) {
	c := &r.Context
	b := map[string]any{"q": r.Query, "placements": r.Placements}
	for name, v := range map[string]string{"device": r.Device, "variants": r.Variants, "min_clock": r.MinClock, "site": c.Site} {
		if v != "" {
			b[name] = v
		}
	}
	for name, v := range map[string]int{"slots": r.Slots, "timeout_ms": r.TimeoutMS, "per_advertiser": r.PerAdvertiser} {
		if v != 0 {
			b[name] = v
		}
	}
	for name, v := range map[string]bool{"strict": r.Strict, "why_empty": r.WhyEmpty, "block_uncategorised": c.BlockUncategorised} {
		if v {
			b[name] = v
		}
	}
	put(b, "locations", c.Locations)
	put(b, "interest_locations", c.InterestLocations)
	put(b, "languages", c.Languages)
	put(b, "audiences", c.Audiences)
	put(b, "block", c.Block)
	put(b, "block_advertisers", c.BlockAdvertisers)
	put(b, "block_domains", c.BlockDomains)
	put(b, "block_categories", c.BlockCategories)
	if !c.Time.IsZero() {
		b["time"] = c.Time.Format(time.RFC3339)
	}
	if c.Point != "" {
		lat, lon, ok := strings.Cut(c.Point, ",")
		if !ok {
			return nil, fmt.Errorf("client: Point must be lat,lon in degrees, not %q", c.Point)
		}
		b["point"] = map[string]json.Number{"lat": json.Number(lat), "lon": json.Number(lon)}
	}
	return b, nil
}

// put adds a list that is not empty.
func put[T any](b map[string]any, name string, list []T) {
	if len(list) > 0 {
		b[name] = list
	}
}
