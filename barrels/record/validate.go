package record

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// Limits of what a store takes: larger values would overflow the arithmetic of
// serving.md §4.
const (
	MaxBid      = 10_000_000_000 // micros
	maxModifier = 10_000         // permille
	maxQuality  = 10
	MaxForms    = 64
	MaxID       = 1<<63 - 1
)

// Invalid returns the fault.Invalid for a bucket or an item that no store takes.
func Invalid(format string, args ...any) error {
	return fault.Newf(fault.Invalid, "barrels: apply", format, args...)
}

func badID(id uint64) bool { return id == 0 || id > MaxID }

// CheckAdvertiser returns fault.Invalid for an advertiser that no store takes.
func CheckAdvertiser(a *pb.Advertiser) error {
	if badID(a.GetId()) {
		return Invalid("an advertiser with the id %d", a.GetId())
	}
	return nil
}

// CheckCampaign returns fault.Invalid for a campaign that no store takes.
func CheckCampaign(c *pb.Campaign) error {
	if badID(c.GetId()) || badID(c.GetAdvertiserId()) {
		return Invalid("campaign %d of advertiser %d: an id is wrong", c.GetId(), c.GetAdvertiserId())
	}
	if !validModifiers(c.Modifiers) || !validNegatives(c.Negatives) {
		return Invalid("campaign %d: a modifier or a negative is wrong", c.Id)
	}
	return nil
}

// CheckItem returns fault.Invalid for a group with keywords that no store takes.
func CheckItem(it *pb.Item) error {
	g := it.GetGroup()
	if badID(g.GetId()) || badID(g.GetCampaignId()) || badID(g.GetAdvertiserId()) {
		return Invalid("group %d of campaign %d of advertiser %d: an id is wrong",
			g.GetId(), g.GetCampaignId(), g.GetAdvertiserId())
	}
	if !validModifiers(g.Modifiers) || !validNegatives(g.Negatives) || !validAds(g.Ads) {
		return Invalid("group %d: a modifier, a negative or an ad is wrong", g.Id)
	}
	var last uint64
	for _, k := range it.Keywords {
		if k.GetId() <= last {
			return Invalid("group %d: keyword %d is out of order", g.Id, k.GetId())
		}
		if last = k.Id; !validKeyword(k) {
			return Invalid("group %d: keyword %d is wrong", g.Id, k.Id)
		}
	}
	return nil
}

func validKeyword(k *pb.Keyword) bool {
	n := len(k.Norm)
	if badID(k.Id) || n == 0 || n > search.MaxKeywordWords || len(k.Fold) != n ||
		k.Type < 0 || k.Type >= search.MatchTypes || k.Quality < 1 || k.Quality > maxQuality ||
		k.GetBid() > MaxBid || len(k.Forms) == 0 || len(k.Forms) > MaxForms {
		return false
	}
	if slices.Contains(k.Norm, 0) || slices.Contains(k.Fold, 0) {
		return false
	}
	for i, f := range k.Forms {
		if len(f.GetTerms()) != n || slices.Contains(f.Terms, 0) || sharesTerm(f, k.Forms[:i]) {
			return false
		}
	}
	return true
}

// sharesTerm reports whether a form has a term of another: languages are part of
// terms, so that the anchors of two forms never meet.
func sharesTerm(f *pb.Form, others []*pb.Form) bool {
	for _, o := range others {
		for _, t := range o.Terms {
			if slices.Contains(f.Terms, t) {
				return true
			}
		}
	}
	return false
}

func validModifiers(m *pb.Modifiers) bool {
	return m.GetDesktop() <= maxModifier && m.GetMobile() <= maxModifier && m.GetTablet() <= maxModifier
}

func validNegatives(list []*pb.Negative) bool {
	return !slices.ContainsFunc(list, func(n *pb.Negative) bool {
		return n == nil || n.Type < 0 || n.Type >= search.MatchTypes || len(n.Norm) > search.MaxKeywordWords
	})
}

func validAds(list []*pb.Ad) bool {
	var last uint64
	for _, a := range list {
		if a.GetId() <= last || badID(a.Id) {
			return false
		}
		last = a.Id
	}
	return true
}

// Marshal writes records: the same message gives the same bytes.
var Marshal = proto.MarshalOptions{Deterministic: true}
