package barrels

import (
	"slices"

	"adshard/schema/pb"
)

// Hashed reports whether a bucket contains hashes of words. Changes of views and removals contain
// none, so they may come from programs with another version of the words.
func Hashed(data *pb.NodeData) bool {
	return len(data.GetItems()) > 0 ||
		slices.ContainsFunc(data.GetAdvertisers(), func(a *pb.Advertiser) bool { return len(a.GetNegatives()) > 0 }) ||
		slices.ContainsFunc(data.GetCampaigns(), func(c *pb.Campaign) bool { return len(c.GetNegatives()) > 0 })
}
