package barreltest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/barrels"
	"adshard/barrels/certify"
	"adshard/barrels/record"
	"adshard/fault"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
)

// allBins requests every bin.
const allBins = ^uint64(0)

// Certified returns the certificate that the items must have, without its clock and bytes.
func Certified(t TB, items []*pb.Item, d *pb.NodeData, bins uint64) (out barrels.Certificate) {
	t.Helper()
	named := map[barrels.Parent]bool{}
	for _, it := range items {
		bin := balance.Bin(balance.Key(it.Group.Key))
		if bins>>bin&1 == 0 {
			continue
		}
		sum, err := record.ItemSum(overTheWire(t, it))
		if err != nil {
			t.Fatalf("sum of group %d: %v", it.Group.Id, err)
		}
		out.Items++
		out.Bins[bin].Add(sum)
		named[barrels.Parent{Campaign: true, ID: it.Group.CampaignId}] = true
		named[barrels.Parent{ID: it.Group.AdvertiserId}] = true
	}
	hash := func(m proto.Message, p barrels.Parent) {
		hi, lo, err := record.ParentHash(m)
		if err != nil {
			t.Fatalf("hash of %+v: %v", p, err)
		}
		if named[p] {
			out.Parents = append(out.Parents, barrels.ParentSum{Parent: p, Hi: hi, Lo: lo})
		}
	}
	for _, p := range d.Advertisers {
		hash(p, barrels.Parent{ID: p.Id})
	}
	for _, p := range d.Campaigns {
		hash(p, barrels.Parent{Campaign: true, ID: p.Id})
	}
	slices.SortFunc(out.Parents, func(a, b barrels.ParentSum) int {
		if a.Campaign != b.Campaign {
			return map[bool]int{false: -1, true: 1}[a.Campaign]
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return out
}

// Equal reports whether two certificates have the same contents.
func Equal(a, b *barrels.Certificate) bool {
	return a.Items == b.Items && a.Bins == b.Bins && slices.Equal(a.Parents, b.Parents)
}

// overTheWire returns an item as it arrives over the wire.
func overTheWire(t TB, it *pb.Item) *pb.Item {
	raw, err := proto.Marshal(it)
	out := new(pb.Item)
	if err == nil {
		err = proto.Unmarshal(raw, out)
	}
	if err != nil {
		t.Fatalf("over the wire: %v", err)
	}
	return out
}

func certificateOf(t TB, s barrels.Store, lo, hi, bins uint64) *barrels.Certificate {
	t.Helper()
	c, err := s.Certify(context.Background(), lo, hi, bins, nil)
	if err != nil {
		t.Fatalf("certify %x to %x: %v", lo, hi, err)
	}
	return c
}

func sameCertificate(t TB, got *barrels.Certificate, want barrels.Certificate) {
	t.Helper()
	if !Equal(got, &want) || got.Items > 0 && got.Bytes == 0 {
		t.Fatalf("certificate\n got %+v\nwant %+v", *got, want)
	}
}

// certified checks the certificate of a random interval and random bins.
func (m *moving) certified(t *rapid.T, s barrels.Store) {
	lo := rapid.SampledFrom(m.keys).Draw(t, "certified from")
	hi := rapid.SampledFrom(m.keys).Draw(t, "certified to")
	bins := rapid.SampledFrom([]uint64{allBins, allBins, 0, 0x5555555555555555}).Draw(t, "bins")
	lo, hi = min(lo, hi), max(lo, hi)
	var items []*pb.Item
	for k, it := range m.here {
		if lo <= k && k <= hi {
			items = append(items, it)
		}
	}
	c := certificateOf(t, s, lo, hi, bins)
	if c.Clock != m.clock {
		t.Fatalf("certified at %d, applied to %d", c.Clock, m.clock)
	}
	sameCertificate(t, c, Certified(t, items, m.build.All(), bins))
}

// certificates checks, for random histories, that a store's certificate is that of the source,
// whatever its anchors and blocks, and that it tells groups, keywords and parents apart.
func certificates(t *testing.T, open Open) {
	s := open(t, "certificates")
	defer s.Close()
	sameBins(t)
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		b := NewBuilder(t, &w)
		apply(t, s, b, true)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			put(t, s, b.Changes(s.Position(), w.Mutate(t)))
		}
		all := b.All()
		want := Certified(t, all.Items, all, allBins)
		sameCertificate(t, certificateOf(t, s, 0, ^uint64(0), allBins), want)
		if len(all.Items) == 0 {
			return
		}
		it := rapid.SampledFrom(all.Items).Draw(t, "item")
		difference := rapid.IntRange(0, 4).Draw(t, "difference")
		switch difference {
		case 0:
			it.Group.Name += "!"
		case 1:
			it.Group.Key++
		case 2:
			it.Keywords = append(it.Keywords, &pb.Keyword{Id: 1 << 60})
		case 3, 4:
			if a := all.Advertisers[0]; difference == 3 {
				a.Name += "!"
			} else {
				a.Negatives = append(a.Negatives, &pb.Negative{Id: 1 << 60})
			}
			if !owns(all.Advertisers[0].Id, all.Items) {
				return
			}
		}
		if got := Certified(t, all.Items, all, allBins); Equal(&got, &want) {
			t.Fatalf("a difference that the sums do not show")
		}
	})
}

func owns(advertiser uint64, items []*pb.Item) bool {
	for _, it := range items {
		if it.Group.AdvertiserId == advertiser {
			return true
		}
	}
	return false
}

// sameBins checks that packages barrels and balance put groups into the same bins.
func sameBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Uint64().Draw(t, "key")
		if certify.Bin(k) != balance.Bin(balance.Key(k)) || certify.Bins != balance.Bins {
			t.Fatalf("key %x: bins %d and %d", k, certify.Bin(k), balance.Bin(balance.Key(k)))
		}
	})
}

// certificatesBeside checks that a certificate describes one state, whatever is applied and
// searched meanwhile, and that it ends with its context.
func certificatesBeside(t *testing.T, open Open) {
	s := open(t, "beside")
	defer s.Close()
	w := Small(60, "usb cable", "red shoes")
	first := NewBuilder(t, w).All()
	put(t, s, first)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Certify(over, 0, ^uint64(0), allBins, nil); !fault.Is(err, fault.Cancelled) {
		t.Fatalf("a certificate that nobody waits for: %v", err)
	}
	const clocks = 40
	want := map[uint64]barrels.Certificate{}
	var buckets []*pb.NodeData
	for clock := uint64(2); clock < clocks; clock++ {
		d := Bulky(first, clock)
		buckets = append(buckets, d)
		want[clock] = Certified(t, d.Items, first, allBins)
	}
	want[1] = Certified(t, first.Items, first, allBins)
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() {
			for clock := uint64(0); clock+1 < clocks; {
				c, err := s.Certify(context.Background(), 0, ^uint64(0), allBins, nil)
				if err != nil || c.Bins != want[c.Clock].Bins {
					t.Errorf("certificate at %d: %v", c.Clock, err)
					return
				}
				clock = c.Clock
			}
		})
	}
	for _, d := range buckets {
		put(t, s, d)
	}
	work.Wait()
}
