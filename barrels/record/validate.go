package record

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// Limits of stored values: larger ones would overflow the arithmetic of serving.md §4.
const (
	MaxBid      = 10_000_000_000 // micros
	maxModifier = 10_000         // permille
	maxQuality  = 10
	MaxForms    = 64
	MaxID       = 1<<63 - 1
)

// Invalid returns the fault.Invalid for a bucket or an item that no store can accept.
func Invalid(format string, args ...any) error {
	return fault.Newf(fault.Invalid, "barrels: apply", format, args...)
}

// checkID returns fault.Invalid if an id is not in 1 to MaxID. The id is in a field of the record
// of the given kind whose id is owner.
func checkID(kind string, owner uint64, field string, id uint64) error {
	if id == 0 || id > MaxID {
		return Invalid("%s %d: %s is %d, allowed are 1 to %d", kind, owner, field, id, uint64(MaxID))
	}
	return nil
}

// CheckAdvertiser returns fault.Invalid for an advertiser that no store can accept.
func CheckAdvertiser(a *pb.Advertiser) error {
	const kind = "advertiser"
	id := a.GetId()
	return cmp.Or(checkID(kind, id, "id", id), checkNegatives(kind, id, a.GetNegatives()))
}

// CheckCampaign returns fault.Invalid for a campaign that no store can accept.
func CheckCampaign(c *pb.Campaign) error {
	const kind = "campaign"
	id := c.GetId()
	return cmp.Or(
		checkID(kind, id, "id", id),
		checkID(kind, id, "advertiser_id", c.GetAdvertiserId()),
		checkModifiers(kind, id, c.GetModifiers()),
		checkNegatives(kind, id, c.GetNegatives()),
	)
}

// CheckItem returns fault.Invalid for a group with keywords that no store can accept.
func CheckItem(it *pb.Item) error {
	const kind = "group"
	g := it.GetGroup()
	id := g.GetId()
	err := cmp.Or(
		checkID(kind, id, "id", id),
		checkID(kind, id, "campaign_id", g.GetCampaignId()),
		checkID(kind, id, "advertiser_id", g.GetAdvertiserId()),
		checkModifiers(kind, id, g.GetModifiers()),
		checkNegatives(kind, id, g.GetNegatives()),
		checkAds(id, g.GetAds()),
	)
	if err != nil {
		return err
	}
	_, err = CheckKeywords(id, it.GetKeywords(), 0)
	return err
}

// CheckKeywords checks keywords of a group that follow the keyword whose id is `last` (0 if there
// is none). It returns the id of the last of them, or fault.Invalid if no store can accept them.
func CheckKeywords(group uint64, list []*pb.Keyword, last uint64) (uint64, error) {
	for _, k := range list {
		if k.GetId() <= last {
			return last, Invalid("group %d: keyword %d follows keyword %d, ids must ascend", group, k.GetId(), last)
		}
		if err := checkKeyword(group, k); err != nil {
			return last, err
		}
		last = k.Id
	}
	return last, nil
}

func checkKeyword(group uint64, k *pb.Keyword) error {
	invalid := func(format string, args ...any) error {
		return Invalid("group %d: keyword %d: %w", group, k.Id, fmt.Errorf(format, args...))
	}
	n := len(k.Norm)
	switch {
	case k.Id > MaxID:
		return invalid("id is %d, at most %d is allowed", k.Id, uint64(MaxID))
	case n == 0 || n > search.MaxKeywordWords:
		return invalid("norm has %d words, allowed are 1 to %d", n, search.MaxKeywordWords)
	case len(k.Fold) != n:
		return invalid("fold has %d words, norm has %d", len(k.Fold), n)
	case k.Type < 0 || k.Type >= search.MatchTypes:
		return invalid("type is %d, allowed are 0 to %d", k.Type, search.MatchTypes-1)
	case k.Quality < 1 || k.Quality > maxQuality:
		return invalid("quality is %d, allowed are 1 to %d", k.Quality, maxQuality)
	case k.Given > maxQuality:
		return invalid("given is %d, at most %d is allowed", k.Given, maxQuality)
	case k.GetBid() > MaxBid:
		return invalid("bid is %d micros, at most %d is allowed", k.GetBid(), uint64(MaxBid))
	case len(k.Forms) == 0 || len(k.Forms) > MaxForms:
		return invalid("forms has %d entries, allowed are 1 to %d", len(k.Forms), MaxForms)
	case slices.Contains(k.Norm, 0):
		return invalid("norm has a hash of 0")
	case slices.Contains(k.Fold, 0):
		return invalid("fold has a hash of 0")
	}
	for i, f := range k.Forms {
		switch {
		case len(f.GetTerms()) != n:
			return invalid("forms[%d] has %d terms, norm has %d words", i, len(f.GetTerms()), n)
		case slices.Contains(f.Terms, 0):
			return invalid("forms[%d] has a term of 0", i)
		case sharesTerm(f, k.Forms[:i]):
			return invalid("forms[%d] shares a term with an earlier form", i)
		}
	}
	return nil
}

// sharesTerm reports whether a form has a term that another form also has. Languages are part of
// terms, so the anchors of two forms never coincide.
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

func checkModifiers(kind string, owner uint64, m *pb.Modifiers) error {
	devices := [...]string{"desktop", "mobile", "tablet"}
	for i, v := range [...]uint32{m.GetDesktop(), m.GetMobile(), m.GetTablet()} {
		if v > maxModifier {
			return Invalid("%s %d: modifiers.%s is %d permille, at most %d is allowed", kind, owner, devices[i], v, maxModifier)
		}
	}
	return nil
}

func checkNegatives(kind string, owner uint64, list []*pb.Negative) error {
	for i, n := range list {
		switch {
		case n == nil:
			return Invalid("%s %d: negatives[%d] is empty", kind, owner, i)
		case n.Type < 0 || n.Type >= search.MatchTypes:
			return Invalid("%s %d: negatives[%d].type is %d, allowed are 0 to %d", kind, owner, i, n.Type, search.MatchTypes-1)
		case len(n.Norm) > search.MaxKeywordWords:
			return Invalid("%s %d: negatives[%d].norm has %d words, at most %d are allowed", kind, owner, i, len(n.Norm), search.MaxKeywordWords)
		}
	}
	return nil
}

func checkAds(group uint64, list []*pb.Ad) error {
	var last uint64
	for _, a := range list {
		if a.GetId() <= last {
			return Invalid("group %d: ad %d follows ad %d, ids must ascend", group, a.GetId(), last)
		}
		if last = a.Id; last > MaxID {
			return Invalid("group %d: ad %d: id is over %d", group, last, uint64(MaxID))
		}
	}
	return nil
}

// Marshal encodes records. The same message always gives the same bytes.
var Marshal = proto.MarshalOptions{Deterministic: true}
