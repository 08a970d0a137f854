package barrels

import (
	"slices"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"

	"google.golang.org/protobuf/proto"
)

// Limits of what a store takes; larger values would leave the arithmetic of
// serving.md §4.
const (
	maxBid      = 10_000_000_000 // micros
	maxModifier = 10_000         // permille
	maxQuality  = 10
	maxForms    = 64
	maxID       = 1<<63 - 1
)

// Validate tells whether a store can apply a bucket: fault.Invalid, with the
// first thing that is wrong. Apply calls it.
func Validate(d *pb.NodeData) error {
	if d.GetTo() == nil {
		return invalid("the bucket has no end")
	}
	for _, a := range d.Advertisers {
		if err := checkAdvertiser(a); err != nil {
			return err
		}
	}
	for _, c := range d.Campaigns {
		if err := checkCampaign(c); err != nil {
			return err
		}
	}
	keys := make(map[uint64]bool, len(d.Items)+len(d.Deleted))
	for _, k := range d.Deleted {
		keys[k] = true
	}
	for _, it := range d.Items {
		if err := checkItem(it); err != nil {
			return err
		}
		if keys[it.Group.Key] {
			return invalid("the group with key %x stands twice in the bucket", it.Group.Key)
		}
		keys[it.Group.Key] = true
	}
	if err := checkCleared(d.Cleared); err != nil {
		return err
	}
	return checkSlices(d.Slices)
}

func invalid(format string, args ...any) error {
	return fault.Newf(fault.Invalid, "barrels: apply", format, args...)
}

func badID(id uint64) bool { return id == 0 || id > maxID }

func checkAdvertiser(a *pb.Advertiser) error {
	if badID(a.GetId()) {
		return invalid("an advertiser with the id %d", a.GetId())
	}
	return nil
}

func checkCampaign(c *pb.Campaign) error {
	if badID(c.GetId()) || badID(c.GetAdvertiserId()) {
		return invalid("campaign %d of advertiser %d: an id is wrong", c.GetId(), c.GetAdvertiserId())
	}
	if !validModifiers(c.Modifiers) || !validNegatives(c.Negatives) {
		return invalid("campaign %d: a modifier or a negative is wrong", c.Id)
	}
	return nil
}

func checkItem(it *pb.Item) error {
	g := it.GetGroup()
	if badID(g.GetId()) || badID(g.GetCampaignId()) || badID(g.GetAdvertiserId()) {
		return invalid("group %d of campaign %d of advertiser %d: an id is wrong",
			g.GetId(), g.GetCampaignId(), g.GetAdvertiserId())
	}
	if !validModifiers(g.Modifiers) || !validNegatives(g.Negatives) || !validAds(g.Ads) {
		return invalid("group %d: a modifier, a negative or an ad is wrong", g.Id)
	}
	var last uint64
	for _, k := range it.Keywords {
		if k.GetId() <= last {
			return invalid("group %d: keyword %d is out of order", g.Id, k.GetId())
		}
		if last = k.Id; !validKeyword(k) {
			return invalid("group %d: keyword %d is wrong", g.Id, k.Id)
		}
	}
	return nil
}

func validKeyword(k *pb.Keyword) bool {
	n := len(k.Norm)
	if badID(k.Id) || n == 0 || n > search.MaxKeywordWords || len(k.Fold) != n ||
		k.Type < 0 || k.Type >= search.MatchTypes || k.Quality < 1 || k.Quality > maxQuality ||
		k.GetBid() > maxBid || len(k.Forms) == 0 || len(k.Forms) > maxForms {
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

// sharesTerm tells whether a form has a term of another: languages are part of
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

func checkSlices(t *pb.SliceTable) error {
	var last *pb.HeldSlice
	for _, s := range t.GetSlices() {
		if s == nil || s.Lo > s.Hi || last != nil && s.Lo <= last.Hi {
			return invalid("the table of slices is not sorted and disjoint")
		}
		if _, known := pb.HeldState_name[int32(s.State)]; !known {
			return invalid("slice %d is held in the state %d, which this program does not know", s.Id, s.State)
		}
		last = s
	}
	if t.GetLeast() > t.GetView() {
		return invalid("views below %d are no longer served and %d is the newest", t.Least, t.View)
	}
	return nil
}

func checkCleared(list []*pb.Interval) error {
	for i, v := range list {
		if v == nil || v.Lo > v.Hi || i > 0 && v.Lo <= list[i-1].Hi {
			return invalid("the cleared intervals are not sorted and disjoint")
		}
	}
	return nil
}

// samePosition tells whether two positions are equal; nil is the zero one.
func samePosition(a, b *pb.Position) bool {
	return a.GetEpoch() == b.GetEpoch() && a.GetClock() == b.GetClock() &&
		a.GetQuantum() == b.GetQuantum() && a.GetOffset() == b.GetOffset() && a.GetMark() == b.GetMark()
}

var marshal = proto.MarshalOptions{Deterministic: true}
