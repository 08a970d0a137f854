package barrels_test

import (
	"context"
	"encoding/binary"
	"testing"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/schema/pb"
)

// TestFormatOfThrottling: a store has the format that older programs read until a campaign
// is throttled, and from that very batch on, until it is filled anew, one that they refuse:
// they would serve the campaign in every request.
func TestFormatOfThrottling(t *testing.T) {
	db := memory.NewDB()
	s := open(t, db)
	d := quarters(t)
	for step, c := range []struct {
		withheld uint32
		reset    bool
		format   uint32
	}{
		{0, true, index.FormatVersion}, {0, false, index.FormatVersion}, {1, false, index.FormatThrottling},
		{0, false, index.FormatThrottling}, {0, true, index.FormatVersion}, {300_000, true, index.FormatThrottling},
	} {
		d.From, d.To, d.Reset_ = s.Position(), &pb.Position{Epoch: 1, Clock: s.Position().Clock + 1}, c.reset
		d.Campaigns[0].Withheld = c.withheld
		if err := s.Apply(context.Background(), d); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := binary.LittleEndian.Uint32(values(db, kv.Meta)["format"]); got != c.format {
				t.Errorf("step %d: the format is %d, want %d", step, got, c.format)
			}
			closed(t, s)
			s = open(t, db)
		}
	}
	closed(t, s)
}

// TestFormatIsMendedLater: a store with a throttled campaign whose format does not say so gets
// it with the next batch.
func TestFormatIsMendedLater(t *testing.T) {
	db := memory.NewDB()
	s := open(t, db)
	d := quarters(t)
	d.Campaigns[0].Withheld = 1
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	var b kv.Batch
	index.PutFormat(&b, index.FormatVersion)
	write(t, db, &b)
	s = open(t, db)
	defer closed(t, s)
	if err := s.Apply(context.Background(), &pb.NodeData{From: d.To, To: &pb.Position{Epoch: 1, Clock: d.To.Clock + 1}}); err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint32(values(db, kv.Meta)["format"]); got != index.FormatThrottling {
		t.Errorf("the format is %d", got)
	}
}
