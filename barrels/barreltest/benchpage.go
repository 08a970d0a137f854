package barreltest

import (
	"context"
	"fmt"
	"testing"

	"adshard/barrels"
	"adshard/search"
)

// BenchmarkPages compares pages whose placements have 20 places together with a plain search for 20 places. The placements share
// a filter, or each has its own reserve.
func BenchmarkPages(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	c := LoadCorpus(b, keywords)
	s := open(b)
	defer s.Close()
	Fill(b, s, c.Buckets(8<<20))
	if err := s.Maintain(context.Background()); err != nil {
		b.Fatal(err)
	}
	for _, filters := range []int{0, 1, 2, 8} {
		var requests []*search.Request
		for _, r := range c.Requests(b) {
			own := *r
			if own.Slots = 20; filters > 0 {
				own.Page = &search.Page{PerAdvertiser: 1}
				for i := range filters {
					own.Page.Filters = append(own.Page.Filters, search.Filter{Reserve: own.Reserve * uint64(i+1)})
				}
			}
			requests = append(requests, &own)
		}
		b.Run(fmt.Sprintf("filters=%d", filters), func(b *testing.B) { MeasureSearch(b, s, requests) })
	}
}
