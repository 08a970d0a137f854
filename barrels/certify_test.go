package barrels_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/fault"
	"adshard/schema/fb"
	"adshard/schema/pb"
	"adshard/search"
)

// certified returns the certificate of all data in kv, or the error of opening or certifying.
func certified(kv kv.DB) (*barrels.Certificate, error) {
	s, err := barrels.Open(kv, barrels.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Certify(context.Background(), 0, ^uint64(0), ^uint64(0), nil)
}

// TestCertificateShowsDamage: if any byte of a block, a page, a group's record, a parent or one
// of their keys is changed, or any value is missing, the certificate differs or the data are
// refused as corrupt.
func TestCertificateShowsDamage(t *testing.T) {
	db := keptOf(t, 6)
	want, err := certified(db)
	if err != nil || want.Items != 6 {
		t.Fatal(want, err)
	}
	damages := 0
	differs := func(f kv.Family, key, value []byte, damage func(*kv.Batch)) {
		t.Helper()
		var b kv.Batch
		damage(&b)
		write(t, db, &b)
		damages++
		got, err := certified(db)
		if err == nil && barreltest.Equal(got, want) || err != nil && !fault.Is(err, fault.Corrupt) {
			t.Fatalf("%v, key %x: the damage does not show: %v", f, key, err)
		}
		b.Reset()
		b.Put(f, key, value)
		write(t, db, &b)
	}
	for _, f := range []kv.Family{kv.Postings, kv.Items, kv.Parents} {
		whole := values(db, f)
		for key, value := range whole {
			key := []byte(key)
			differs(f, key, value, func(b *kv.Batch) { b.Delete(f, key) })
			for i := range value {
				differs(f, key, value, func(b *kv.Batch) { b.Put(f, key, flipped(value, i)) })
			}
			for i := range key {
				other := flipped(key, i)
				if whole[string(other)] != nil {
					continue
				}
				if f != kv.Parents && i >= 8 && bytes.Compare(other, key) < 0 {
					continue // a block's or page's key may be below those of its content
				}
				differs(f, key, value, func(b *kv.Batch) { b.Delete(f, key); b.Put(f, other, value) })
				var b kv.Batch
				b.Delete(f, other)
				write(t, db, &b)
			}
		}
	}
	if got, err := certified(db); err != nil || !barreltest.Equal(got, want) {
		t.Fatalf("mended again: %v", err)
	}
	t.Logf("%d damages", damages)
}

func write(t *testing.T, kv kv.DB, b *kv.Batch) {
	t.Helper()
	if err := kv.Write(b); err != nil {
		t.Fatal(err)
	}
}

func values(kv kv.DB, f kv.Family) map[string][]byte {
	s := kv.Snapshot()
	defer s.Close()
	it := s.Full(f)
	defer it.Close()
	out := map[string][]byte{}
	for ok := it.Seek(nil); ok; ok = it.Next() {
		out[string(it.Key())] = bytes.Clone(it.Value())
	}
	return out
}

func flipped(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 0x10
	return b
}

// TestCertificateReadsWhatSearchesRead: postings that contradict their keyword's or group's
// record change the sum although all checksums are right, and so do missing or superfluous
// postings and bounds that are too low.
func TestCertificateReadsWhatSearchesRead(t *testing.T) {
	want, err := certified(kept(t))
	if err != nil {
		t.Fatal(err)
	}
	low, bid := uint32(500), uint64(123)
	for name, change := range map[string]func(*pb.Item){
		"bid":       func(it *pb.Item) { it.Keywords[0].Bid = &bid },
		"no bid":    func(it *pb.Item) { it.Keywords[0].Bid = nil },
		"quality":   func(it *pb.Item) { it.Keywords[0].Quality = 9 },
		"type":      func(it *pb.Item) { it.Keywords[0].Type = pb.MatchType_MATCH_TYPE_EXACT },
		"paused":    func(it *pb.Item) { it.Keywords[0].Enabled = false },
		"a word":    func(it *pb.Item) { it.Keywords[0].Norm[0]++ },
		"folded":    func(it *pb.Item) { it.Keywords[0].Fold[1]++ },
		"group":     func(it *pb.Item) { it.Group.Enabled = false },
		"modifier":  func(it *pb.Item) { it.Group.Modifiers = &pb.Modifiers{Mobile: &low} },
		"campaign":  func(it *pb.Item) { it.Group.CampaignId++ },
		"no ad":     func(it *pb.Item) { it.Group.Ads = nil },
		"negatives": func(it *pb.Item) { it.Group.Negatives = []*pb.Negative{{Id: 1, Enabled: true, Norm: []uint64{1}}} },
		"missing":   func(it *pb.Item) { it.Keywords = it.Keywords[:1] },
		"too many": func(it *pb.Item) {
			k := proto.CloneOf(it.Keywords[0])
			k.Id = 99_999
			it.Keywords = append(it.Keywords, k)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, other := kept(t), memory.NewDB()
			s := open(t, other)
			d := barreltest.NewBuilder(t, barreltest.Small(30, "usb cable", "red shoes")).All()
			change(d.Items[11])
			if err := s.Apply(context.Background(), d); err != nil {
				t.Fatal(err)
			}
			closed(t, s)
			var b kv.Batch
			b.Clear(kv.Postings)
			for key, value := range values(other, kv.Postings) {
				b.Put(kv.Postings, []byte(key), value)
			}
			write(t, db, &b)
			differs(t, db, want)
		})
	}
	t.Run("bounds", func(t *testing.T) {
		db := kept(t)
		spoil(t, db, kv.Postings, func(_, v []byte) []byte {
			v = v[:len(v)-9]
			b := fb.GetRootAsBlock(v, 0).Bound(nil)
			b.MutateOwn(0)
			b.MutateInherited(0)
			return block.Seal(v)
		})
		differs(t, db, want)
	})
}

// TestCertificateReadsTerms: the sum also differs if searches lack all terms or any single one.
func TestCertificateReadsTerms(t *testing.T) {
	want, err := certified(kept(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("all", func(t *testing.T) {
		db := kept(t)
		spoil(t, db, kv.Terms, func(_, v []byte) []byte { return nil })
		differs(t, db, want)
	})
	for term := range values(kept(t), kv.Terms) {
		t.Run(hex.EncodeToString([]byte(term)), func(t *testing.T) {
			db := kept(t)
			spoil(t, db, kv.Terms, func(k, v []byte) []byte {
				if string(k) == term {
					return nil
				}
				return v
			})
			differs(t, db, want)
		})
	}
}

func differs(t *testing.T, kv kv.DB, want *barrels.Certificate) {
	t.Helper()
	got, err := certified(kv)
	if err != nil {
		t.Fatal(err)
	}
	if barreltest.Equal(got, want) {
		t.Fatal("the sums are the same")
	}
}

func closed(t *testing.T, s barrels.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestALargeSliceIsCertifiedInBoundedMemory: a certificate needs no more memory for an ad group
// of 300,000 keywords than for one of half as many.
func TestALargeSliceIsCertifiedInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a large ad group takes seconds: not in -short")
	}
	s, err := barrels.Open(memory.NewDB(), barrels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var allocated [2]uint64
	for i, keywords := range []int{150_000, 300_000} {
		applyLarge(t, s, uint64(i), keywords)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := s.Certify(t.Context(), 0, ^uint64(0), ^uint64(0), nil)
		runtime.ReadMemStats(&after)
		if err != nil || c.Items != 1 {
			t.Fatalf("%+v, %v", c, err)
		}
		allocated[i] = after.TotalAlloc - before.TotalAlloc
	}
	if more := int64(allocated[1]) - int64(allocated[0]); more > 4<<20 {
		t.Errorf("%d bytes for half, %d for all", allocated[0], allocated[1])
	}
}

// applyLarge gives a store one ad group with the given number of keywords; at is the clock.
func applyLarge(t *testing.T, s barrels.Store, at uint64, keywords int) {
	t.Helper()
	it := &backend.Item{Group: backend.Group{ID: 1, CampaignID: 1, AdvertiserID: 1, GroupSettings: backend.GroupSettings{Enabled: true, Bid: 1, HasBid: true}}}
	for i := range keywords {
		it.Keywords = append(it.Keywords, backend.Keyword{ID: uint64(i + 1), Text: fmt.Sprint("word", i%1000, " part", i/1000), Type: search.Broad, KeywordSettings: backend.KeywordSettings{Enabled: true, Quality: 5}})
	}
	b := nodedata.New(balance.ByOwner)
	campaign := &backend.Campaign{ID: 1, AdvertiserID: 1, CampaignSettings: backend.CampaignSettings{Enabled: true}}
	item, err := b.Item(it, campaign)
	if err != nil {
		t.Fatal(err)
	}
	record, err := b.Campaign(campaign)
	if err != nil {
		t.Fatal(err)
	}
	advertiser, err := b.Advertiser(&backend.Advertiser{ID: 1, AdvertiserSettings: backend.AdvertiserSettings{Enabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), &pb.NodeData{
		Reset_: true, To: barreltest.At(at + 1), Slices: barreltest.WholeRing(), Builder: nodedata.Version, Items: []*pb.Item{item},
		Campaigns: []*pb.Campaign{record}, Advertisers: []*pb.Advertiser{advertiser},
	}); err != nil {
		t.Fatal(err)
	}
}
