package block_test

import (
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
	"adshard/barrels/block"
	"adshard/search"
	"adshard/targeting"
)

// TestReserves: a block with a posting that bids at least the reserve is never skipped,
// whatever its bid is multiplied by.
func TestReserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawEntries(t)
		v, d := open(t, encode(list)), search.Device(rapid.IntRange(0, int(search.Devices)-1).Draw(t, "device"))
		permille := rapid.SampledFrom([]uint64{1000, 1000, 1, 999, 1001, 1500, 10_000})
		campaign, factor := permille.Draw(t, "campaign"), permille.Draw(t, "factor")
		reach, ratio := v.Bound(d).Reach(max(campaign, 1000), max(factor, 1000)), v.BidRatio()
		if ratio < block.LeastBidRatio || ratio > block.MostBidRatio {
			t.Fatalf("a ratio of %d", ratio)
		}
		for i := range list {
			e := &list[i]
			if e.Flags&block.Enabled == 0 || e.Flags&block.HasBid == 0 || e.Group.Flags&block.GroupLive != block.GroupLive {
				continue
			}
			own := e.Group.Modifiers[d]
			modifier, _ := auction.Modifier(uint64(own), own != block.NotSet, campaign, true)
			modifier = modifier * factor / 1000 * max(block.GroupFactor(e.Group.Flags), 1)
			bid, _, score := auction.Rank(e.Bid, min(modifier, targeting.MaxModifier), uint64(e.Quality), search.MatchType(e.Type).Permille(), 1000)
			if bid > 0 && !block.NewThreshold(score, bid, search.Identical).ReachedBidding(reach, ratio) {
				t.Fatalf("%+v bids %d, and its block of the ratio %d, which reaches %d, is skipped", e, bid, ratio, reach)
			}
		}
	})
}

// TestReserveAboveAll: a block with one quality and match type is skipped if the reserve is
// above its largest bid.
func TestReserveAboveAll(t *testing.T) {
	group := &block.Group{Key: 1, Flags: block.GroupLive, Modifiers: [search.Devices]uint16{block.NotSet, 1500, 500}}
	for quality := range uint8(10) {
		for kind := range uint8(search.MatchTypes) {
			var list []block.Entry
			for i, bid := range []uint64{30, 7_000_000, 9_999_990} {
				list = append(list, block.Entry{
					Group: group, Keyword: uint64(i), Bid: bid, Type: kind, Quality: quality + 1, Flags: block.Enabled | block.HasBid,
					Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}},
				})
			}
			v := open(t, encode(list))
			for d, most := range map[search.Device]uint64{search.Desktop: 19_999_980, search.Mobile: 14_999_985, search.Tablet: 4_999_995} {
				reach := v.Bound(d).Reach(2000, 1000) // the campaign's modifier applies if the group has none
				for reserve, want := range map[uint64]bool{most - 1: true, most: true, most + 1: false} {
					if got := block.NewThreshold(0, reserve, search.Identical).ReachedBidding(reach, v.BidRatio()); got != want {
						t.Errorf("quality %d, type %d, device %d, a reserve of %d where the largest bid is %d: %v", quality+1, kind, d, reserve, most, got)
					}
				}
			}
		}
	}
}
