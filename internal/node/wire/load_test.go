package wire

import (
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/balance/load"
	"adshard/schema/pb"
)

// TestLoadsOverTheWire: a report of load arrives as it was made, whether the slave says
// where it would cut a slice or, as one of an older version, does not.
func TestLoadsOverTheWire(t *testing.T) {
	sent := &pb.Load{
		Number: 7, IntervalMs: 1500, Queries: 30,
		Slices: []*pb.SliceLoad{
			{Slice: 1, Generation: 2, Cost: &pb.Cost{Examined: 3, Matched: 4, Micros: 5}, SplitKey: proto.Uint64(1 << 63)},
			{Slice: 2, Generation: 1, Cost: &pb.Cost{Examined: 6}},
		},
		Items:  []*pb.ItemLoad{{Key: 9, Cost: &pb.Cost{Matched: 8}}},
		Topics: []*pb.TopicLoad{{Term: 10, Cost: &pb.Cost{Micros: 11}}},
		Pairs:  []*pb.PairLoad{{Term: 10, Key: 1 << 63, Cost: &pb.Cost{Examined: 12}}},
	}
	want := &load.Report{
		Incarnation: "x", Number: 7, Interval: 1500 * time.Millisecond, Queries: 30,
		Slices: []load.SliceCost{
			{Slice: 1, Generation: 2, Cost: load.Cost{Examined: 3, Matched: 4, Micros: 5}, Split: 1 << 63},
			{Slice: 2, Generation: 1, Cost: load.Cost{Examined: 6}},
		},
		Items:  []load.ItemCost{{Key: 9, Cost: load.Cost{Matched: 8}}},
		Topics: []load.TopicCost{{Term: 10, Cost: load.Cost{Micros: 11}}},
		Pairs:  []load.PairCost{{Term: 10, Key: 1 << 63, Cost: load.Cost{Examined: 12}}},
	}
	raw, err := proto.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	got := &pb.Load{}
	if err := proto.Unmarshal(raw, got); err != nil {
		t.Fatal(err)
	}
	if l := ToLoad("x", got); !reflect.DeepEqual(l, want) {
		t.Errorf("got  %+v\nwant %+v", l, want)
	}
	if ToLoad("x", nil) != nil {
		t.Error("no report became one")
	}
}
