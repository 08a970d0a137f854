package barreltest

import (
	"context"
	"testing"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// invalid checks that node data which break a rule are refused as a whole.
func invalid(t *testing.T, open Open) {
	s := open(t, "invalid")
	defer s.Close()
	w := Small(2, "usb cable", "hdmi cable")
	put(t, s, NewBuilder(t, w).All())
	for name, spoil := range spoilt() {
		d := NewBuilder(t, w).All()
		d.Reset_, d.From, d.To, d.Slices = false, At(1), At(2), nil
		spoil(d)
		if err := s.Apply(context.Background(), d); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	matches(t, s, "usb hdmi cable", 4)
	if s.Position().Clock != 1 {
		t.Fatalf("at %v", s.Position())
	}
}

// spoilt returns ways to break a bucket, by name.
func spoilt() map[string]func(*pb.NodeData) {
	keyword := func(spoil func(*pb.Keyword)) func(*pb.NodeData) {
		return func(d *pb.NodeData) { spoil(d.Items[1].Keywords[1]) }
	}
	group := func(spoil func(*pb.Group)) func(*pb.NodeData) {
		return func(d *pb.NodeData) { spoil(d.Items[0].Group) }
	}
	bid, modifier := uint64(10_000_000_001), uint32(10_001)
	return map[string]func(*pb.NodeData){
		"no end":                   func(d *pb.NodeData) { d.To = nil },
		"item without group":       func(d *pb.NodeData) { d.Items[0].Group = nil },
		"nil item":                 func(d *pb.NodeData) { d.Items[0] = nil },
		"a key twice":              func(d *pb.NodeData) { d.Items[1].Group.Key = d.Items[0].Group.Key },
		"changed and deleted":      func(d *pb.NodeData) { d.Deleted = []uint64{d.Items[0].Group.Key} },
		"advertiser without id":    func(d *pb.NodeData) { d.Advertisers[0].Id = 0 },
		"campaign without owner":   func(d *pb.NodeData) { d.Campaigns[0].AdvertiserId = 0 },
		"campaign's modifier":      func(d *pb.NodeData) { d.Campaigns[0].Modifiers = &pb.Modifiers{Tablet: &modifier} },
		"nil advertiser negative":  func(d *pb.NodeData) { d.Advertisers[0].Negatives = []*pb.Negative{nil} },
		"nil negative":             func(d *pb.NodeData) { d.Campaigns[0].Negatives = []*pb.Negative{nil} },
		"overlapping slices":       func(d *pb.NodeData) { d.Slices = &pb.SliceTable{Slices: []*pb.HeldSlice{{Hi: 5}, {Lo: 5, Hi: 9}}} },
		"slices backwards":         func(d *pb.NodeData) { d.Slices = &pb.SliceTable{Slices: []*pb.HeldSlice{{Lo: 5, Hi: 4}}} },
		"a state of tomorrow":      func(d *pb.NodeData) { d.Slices = &pb.SliceTable{Slices: []*pb.HeldSlice{{Hi: 5, State: 3}}} },
		"no view left":             func(d *pb.NodeData) { d.Slices = &pb.SliceTable{View: 2, Least: 3} },
		"cleared backwards":        func(d *pb.NodeData) { d.Cleared = []*pb.Interval{{Lo: 5, Hi: 4}} },
		"cleared twice":            func(d *pb.NodeData) { d.Cleared = []*pb.Interval{{Hi: 5}, {Lo: 5, Hi: 9}} },
		"cleared out of order":     func(d *pb.NodeData) { d.Cleared = []*pb.Interval{{Lo: 8, Hi: 9}, {Lo: 1, Hi: 2}} },
		"nothing cleared":          func(d *pb.NodeData) { d.Cleared = []*pb.Interval{nil} },
		"group without id":         group(func(g *pb.Group) { g.Id = 0 }),
		"group without campaign":   group(func(g *pb.Group) { g.CampaignId = 0 }),
		"group's modifier":         group(func(g *pb.Group) { g.Modifiers = &pb.Modifiers{Mobile: &modifier} }),
		"ads out of order":         group(func(g *pb.Group) { g.Ads = []*pb.Ad{{Id: 2}, {Id: 1}} }),
		"nil ad":                   group(func(g *pb.Group) { g.Ads = []*pb.Ad{nil} }),
		"negative of 11 words":     group(func(g *pb.Group) { g.Negatives = []*pb.Negative{{Norm: make([]uint64, 11)}} }),
		"negative of another type": group(func(g *pb.Group) { g.Negatives = []*pb.Negative{{Type: 3, Norm: []uint64{1}}} }),
		"keywords out of order":    keyword(func(k *pb.Keyword) { k.Id = 1 }),
		"keyword without words":    keyword(func(k *pb.Keyword) { k.Norm, k.Fold, k.Forms[0].Terms = nil, nil, nil }),
		"a fold too few":           keyword(func(k *pb.Keyword) { k.Fold = k.Fold[1:] }),
		"a term too many":          keyword(func(k *pb.Keyword) { k.Forms[0].Terms = append(k.Forms[0].Terms, 7) }),
		"no form":                  keyword(func(k *pb.Keyword) { k.Forms = nil }),
		"nil form":                 keyword(func(k *pb.Keyword) { k.Forms = []*pb.Form{nil} }),
		"a term in two forms":      keyword(func(k *pb.Keyword) { k.Forms = append(k.Forms, k.Forms[0]) }),
		"hash 0":                   keyword(func(k *pb.Keyword) { k.Norm[0] = 0 }),
		"quality 0":                keyword(func(k *pb.Keyword) { k.Quality = 0 }),
		"quality 11":               keyword(func(k *pb.Keyword) { k.Quality = 11 }),
		"another type":             keyword(func(k *pb.Keyword) { k.Type = 3 }),
		"bid above the limit":      keyword(func(k *pb.Keyword) { k.Bid = &bid }),
	}
}

// requests checks that a request which breaks a rule is refused, and that one whose time is up
// ends.
func requests(t *testing.T, open Open) {
	s := open(t, "requests")
	defer s.Close()
	put(t, s, NewBuilder(t, Small(3, "usb cable")).All())
	for name, spoil := range map[string]func(*search.Request){
		"no query":  func(r *search.Request) { r.Query = nil },
		"0 slots":   func(r *search.Request) { r.Slots = 0 },
		"-1 slots":  func(r *search.Request) { r.Slots = -1 },
		"21 slots":  func(r *search.Request) { r.Slots = 21 },
		"no device": func(r *search.Request) { r.Device = 3 },
	} {
		r := query(t, "usb cable")
		spoil(r)
		_, err := s.Search(context.Background(), r)
		_, err2 := s.Explain(context.Background(), r, 10)
		if !fault.Is(err, fault.Invalid) || !fault.Is(err2, fault.Invalid) {
			t.Errorf("%s: %v, %v", name, err, err2)
		}
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Search(over, query(t, "usb cable")); !fault.Is(err, fault.Cancelled) {
		t.Errorf("a search that nobody waits for: %v", err)
	}
	late, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if _, err := s.Explain(late, query(t, "usb cable"), 5); !fault.Is(err, fault.Deadline) {
		t.Errorf("an explanation out of time: %v", err)
	}
	if err := s.Apply(over, &pb.NodeData{From: At(1), To: At(2)}); !fault.Is(err, fault.Cancelled) {
		t.Errorf("an apply that nobody waits for: %v", err)
	}
}
