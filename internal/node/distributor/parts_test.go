package distributor

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// TestParts: a group larger than a bucket is handed out in parts of at most a bucket's size, which together contain
// all its keywords. Parts of another version are not handed out.
func TestParts(t *testing.T) {
	it := &backend.Item{Group: backend.Group{ID: 7, CampaignID: 1, AdvertiserID: 1, Version: 9}}
	for i := range 3*stretch + 5 {
		it.Keywords = append(it.Keywords, backend.Keyword{ID: uint64(i + 1), Text: fmt.Sprint("usb part", i), Type: search.Broad, KeywordSettings: backend.KeywordSettings{Quality: 5}})
	}
	campaign := &backend.Campaign{ID: 1, AdvertiserID: 1, CampaignSettings: backend.CampaignSettings{Languages: backend.LanguagesOf("en")}}
	b := nodedata.New(balance.ByHash)
	whole, err := b.Item(it, campaign)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 10_000, proto.Size(whole) / 2, 2 * proto.Size(whole)} {
		c, err := cut(b, it, campaign, limit)
		if err != nil {
			t.Fatal(err)
		}
		d, got := newNodeData(words.Default), proto.CloneOf(c.Item)
		d.add(c)
		for part := range c.Parts {
			raw, ok := d.part(c.Group.Key, 9, part)
			one := new(pb.PartResponse)
			if err := proto.Unmarshal(raw, one); err != nil || !ok || len(raw) > limit && len(one.Keywords) > 1 {
				t.Fatalf("part %d: %v, %d bytes of %d", part, err, len(raw), limit)
			}
			got.Keywords = append(got.Keywords, one.Keywords...)
		}
		if got.Parts = 0; !proto.Equal(got, whole) || (c.Parts > 0) != (limit < proto.Size(whole)) {
			t.Errorf("%d bytes at most: %d keywords in %d parts", limit, len(got.Keywords), c.Parts)
		}
		for _, wrong := range []struct {
			key, version uint64
			part         uint32
		}{{c.Group.Key, 8, 0}, {c.Group.Key + 1, 9, 0}, {c.Group.Key, 9, c.Parts}} {
			if _, ok := d.part(wrong.key, wrong.version, wrong.part); ok {
				t.Errorf("there is a part %+v", wrong)
			}
		}
	}
}

// TestAnOlderSlaveGetsNoData: an older slave is refused, because it would take a group in parts for an empty one and
// serve a throttled campaign in every request. A newer slave gets everything.
func TestAnOlderSlaveGetsNoData(t *testing.T) {
	parts := &pb.NodeData{Items: []*pb.Item{{Group: &pb.Group{Id: 7}, Parts: 3}}}
	throttled := &pb.NodeData{Campaigns: []*pb.Campaign{{Id: 7, Withheld: 1}}}
	for version := 1; version <= wire.Version+1; version++ {
		for _, data := range []*pb.NodeData{nil, parts, throttled} {
			err := new(Distributor).understands(version, words.Version(), "slave-1", data)
			if refused := version < wire.VersionData; refused != fault.Is(err, fault.Version) || !refused && err != nil {
				t.Errorf("version %d, %v: %v", version, data, err)
			}
		}
	}
}

// TestASlaveOfOtherWordsGetsNoHashes: a slave with other rules for words gets no hashes, because it would find none of
// them. It gets views and removals.
func TestASlaveOfOtherWordsGetsNoHashes(t *testing.T) {
	for _, data := range []*pb.NodeData{
		{Items: []*pb.Item{{Group: &pb.Group{Id: 6}}}},
		{Campaigns: []*pb.Campaign{{Id: 5}, {Id: 6, Negatives: []*pb.Negative{{Id: 1}}}}},
		{Advertisers: []*pb.Advertiser{{Id: 5}, {Id: 6, Negatives: []*pb.Negative{{Id: 1}}}}},
	} {
		for _, version := range []string{"", "rules 1; unicode 15.0.0", "rules 99; x", words.Version() + " "} {
			if err := new(Distributor).understands(wire.Version, version, "slave-1", data); !fault.Is(err, fault.Version) {
				t.Errorf("words %q: %v", version, err)
			}
		}
		if err := new(Distributor).understands(wire.Version, words.Version(), "slave-1", data); err != nil {
			t.Error(err)
		}
	}
	for _, data := range []*pb.NodeData{nil, {Slices: &pb.SliceTable{View: 7}}, {Deleted: []uint64{1}},
		{Campaigns: []*pb.Campaign{{Id: 6, BudgetExhausted: true}}}, {Advertisers: []*pb.Advertiser{{Id: 1}}}} {
		if err := new(Distributor).understands(wire.Version, "", "slave-1", data); err != nil {
			t.Errorf("%v: %v", data, err)
		}
	}
	if d := newNodeData(words.Default); d.Words != words.Version() {
		t.Errorf("a bucket is of words %q", d.Words)
	}
}
