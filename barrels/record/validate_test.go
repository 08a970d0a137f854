package record

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/schema/pb"
)

func valid() *pb.Item {
	return &pb.Item{
		Group: &pb.Group{Id: 7, CampaignId: 3, AdvertiserId: 2, Modifiers: &pb.Modifiers{Desktop: proto.Uint32(1000)},
			Negatives: []*pb.Negative{{Norm: []uint64{1}}}, Ads: []*pb.Ad{{Id: 4}, {Id: 5}}},
		Keywords: []*pb.Keyword{
			{Id: 8, Quality: 5, Norm: []uint64{1}, Fold: []uint64{1}, Forms: []*pb.Form{{Terms: []uint64{9}}}},
			{Id: 9, Quality: 5, Norm: []uint64{1, 2}, Fold: []uint64{1, 2}, Forms: []*pb.Form{{Terms: []uint64{9, 10}}, {Terms: []uint64{11, 12}}}},
		},
	}
}

// TestCheckItem: an error names the invalid field and its value.
func TestCheckItem(t *testing.T) {
	if err := CheckItem(valid()); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*pb.Item){
		"group 0: id is 0":                                   func(it *pb.Item) { it.Group.Id = 0 },
		"group 7: campaign_id is 0":                          func(it *pb.Item) { it.Group.CampaignId = 0 },
		"group 7: advertiser_id is 9223372036854775808":      func(it *pb.Item) { it.Group.AdvertiserId = 1 << 63 },
		"group 7: modifiers.mobile is 10001 permille":        func(it *pb.Item) { it.Group.Modifiers.Mobile = proto.Uint32(10_001) },
		"group 7: negatives[0].type is 3":                    func(it *pb.Item) { it.Group.Negatives[0].Type = 3 },
		"group 7: negatives[0].norm has 33 words":            func(it *pb.Item) { it.Group.Negatives[0].Norm = make([]uint64, 33) },
		"group 7: ad 4 follows ad 4":                         func(it *pb.Item) { it.Group.Ads[1].Id = 4 },
		"group 7: ad 9223372036854775808: id is over":        func(it *pb.Item) { it.Group.Ads[1].Id = 1 << 63 },
		"group 7: keyword 8 follows keyword 8":               func(it *pb.Item) { it.Keywords[1].Id = 8 },
		"group 7: keyword 0 follows keyword 0":               func(it *pb.Item) { it.Keywords[0].Id = 0 },
		"keyword 9: norm has 0 words":                        func(it *pb.Item) { it.Keywords[1].Norm = nil },
		"keyword 9: fold has 1 words, norm has 2":            func(it *pb.Item) { it.Keywords[1].Fold = []uint64{1} },
		"keyword 9: type is -1":                              func(it *pb.Item) { it.Keywords[1].Type = -1 },
		"keyword 9: quality is 11":                           func(it *pb.Item) { it.Keywords[1].Quality = 11 },
		"keyword 9: bid is 10000000001 micros":               func(it *pb.Item) { it.Keywords[1].Bid = proto.Uint64(MaxBid + 1) },
		"keyword 9: forms has 0 entries":                     func(it *pb.Item) { it.Keywords[1].Forms = nil },
		"keyword 9: norm has a hash of 0":                    func(it *pb.Item) { it.Keywords[1].Norm[1] = 0 },
		"keyword 9: fold has a hash of 0":                    func(it *pb.Item) { it.Keywords[1].Fold[0] = 0 },
		"keyword 9: forms[1] has 1 terms, norm has 2 words":  func(it *pb.Item) { it.Keywords[1].Forms[1].Terms = []uint64{11} },
		"keyword 9: forms[0] has a term of 0":                func(it *pb.Item) { it.Keywords[1].Forms[0].Terms[0] = 0 },
		"keyword 9: forms[1] shares a term with an earlier ": func(it *pb.Item) { it.Keywords[1].Forms[1].Terms[0] = 10 },
	} {
		it := valid()
		spoil(it)
		if err := CheckItem(it); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestCheckParents(t *testing.T) {
	for want, err := range map[string]error{
		"advertiser 0: id is 0":                        CheckAdvertiser(&pb.Advertiser{}),
		"campaign 0: id is 0":                          CheckCampaign(&pb.Campaign{AdvertiserId: 1}),
		"campaign 3: advertiser_id is 0":               CheckCampaign(&pb.Campaign{Id: 3}),
		"campaign 3: modifiers.desktop is 20000":       CheckCampaign(&pb.Campaign{Id: 3, AdvertiserId: 1, Modifiers: &pb.Modifiers{Desktop: proto.Uint32(20_000)}}),
		"campaign 3: negatives[0].type is 7, allowed ": CheckCampaign(&pb.Campaign{Id: 3, AdvertiserId: 1, Negatives: []*pb.Negative{{Type: 7}}}),
	} {
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := CheckCampaign(&pb.Campaign{Id: 3, AdvertiserId: 1}); err != nil {
		t.Error(err)
	}
}
