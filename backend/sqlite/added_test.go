package sqlite

import (
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"adshard/backend"
	"adshard/backend/upsert"
)

// TestSumsOfBeforeHold: the sums that programs of schema 4 wrote are right for entities
// with the defaults of the columns added since, and each other value changes the sum.
func TestSumsOfBeforeHold(t *testing.T) {
	zeros, seven := make([]byte, 8), []byte{7, 0, 0, 0, 0, 0, 0, 0}
	before := func(parts ...[]byte) sum { return sum(xxhash.Sum64(slices.Concat(parts...))) }
	var h hasher
	modifiers := make([]byte, 3*9)
	for _, c := range []struct {
		name        string
		before, now sum
		others      []sum
	}{
		{"advertiser", before([]byte{rowAdvertiser}, zeros, seven, []byte("\x01A\x01")), h.advertiser(7, "A", upsert.NewAdvertiser()), []sum{
			h.advertiser(7, "A", upsert.Advertiser{Enabled: true, TimeZone: "Europe/Prague"}),
			h.advertiser(7, "A", upsert.Advertiser{Enabled: true, TimeZone: "Asia/Tokyo"}),
			h.advertiser(7, "A", upsert.Advertiser{Enabled: true}),
		}},
		{"campaign", before([]byte{rowCampaign}, zeros, seven, []byte("\x01C\x01"), make([]byte, 9), modifiers, []byte("\x00\x00")),
			h.campaign(7, 0, "C", upsert.Campaign{Enabled: true}), []sum{
				h.campaign(7, 0, "C", upsert.Campaign{Enabled: true, StandardDelivery: true}),
				h.campaign(7, 0, "C", upsert.Campaign{Enabled: true, Hold: backend.Refused}), h.campaign(7, 0, "C", upsert.Campaign{Enabled: true, Hold: backend.HeldBy(1)}),
			}},
		{"budget", before([]byte{rowBudget}, zeros, seven, []byte("\x01")), h.budget(7, budgetMark{exhausted: true}), []sum{
			h.budget(7, budgetMark{exhausted: true, withheld: 1}), h.budget(7, budgetMark{exhausted: true, withheld: 1_000_000}),
		}},
		{"keyword", before([]byte{rowKeyword}, zeros, seven, []byte("\x01a\x01A\x02\x01"), make([]byte, 9), []byte{5}),
			h.keyword(0, 7, upsert.Phrase{Words: "a", Match: 2}, upsert.Keyword{Text: "A", Enabled: true, Quality: 5}), []sum{
				h.keyword(0, 7, upsert.Phrase{Words: "a", Match: 2}, upsert.Keyword{Text: "A", Enabled: true, Quality: 5, Learned: backend.NewLearned(5, 0, 0, 0)}),
				h.keyword(0, 7, upsert.Phrase{Words: "a", Match: 2}, upsert.Keyword{Text: "A", Enabled: true, Quality: 5, Learned: backend.NewLearned(5, 0, 1, 0)}),
			}},
	} {
		if c.now != c.before {
			t.Errorf("%s: the sum is %x, older programs wrote %x", c.name, c.now, c.before)
		}
		for i, other := range c.others {
			if other == c.now || slices.Index(c.others, other) != i {
				t.Errorf("%s: another value, the same sum %x", c.name, other)
			}
		}
	}
}
