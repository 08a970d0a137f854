package barrels

import (
	"slices"

	"adshard/schema/pb"
)

// Hashed reports whether hashes of words are in node data. Views, and what is removed, come
// from programs of other words as well.
func Hashed(data *pb.NodeData) bool {
	return len(data.GetItems()) > 0 ||
		slices.ContainsFunc(data.GetAdvertisers(), func(a *pb.Advertiser) bool { return len(a.GetNegatives()) > 0 }) ||
		slices.ContainsFunc(data.GetCampaigns(), func(c *pb.Campaign) bool { return len(c.GetNegatives()) > 0 })
}
