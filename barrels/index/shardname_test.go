package index

import (
	"testing"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// TestShardOfATable: a slave answers for the shard that its table names, which by
// default is that of its own name; a spare answers for none.
func TestShardOfATable(t *testing.T) {
	id := func(shard string) search.ShardID { return search.NewShardID("", "", shard) }
	for _, c := range []struct {
		name  string
		table *pb.SliceTable
		asked string
		ok    bool
	}{
		{"its own", &pb.SliceTable{}, "slave-3", true},
		{"that of its table", &pb.SliceTable{Shard: "shard-0"}, "shard-0", true},
		{"no longer its own", &pb.SliceTable{Shard: "shard-0"}, "slave-3", false},
		{"of a spare", &pb.SliceTable{Spare: true}, "slave-3", false},
	} {
		_, err := NewSlices("slave-3", c.table, false).Served("slave: search", id(c.asked), 0)
		if (err == nil) != c.ok || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
