package barrels_test

import (
	"context"
	"testing"

	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/schema/pb"
)

// TestStoresOfFormat3: their bytes are those of this format, so that they are read and changed.
func TestStoresOfFormat3(t *testing.T) {
	db := memory.NewDB()
	s := open(t, db)
	d := quarters(t)
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	var b kv.Batch
	b.Put(kv.Meta, kv.MetaFormat, []byte{3, 0, 0, 0})
	write(t, db, &b)
	s = open(t, db)
	defer closed(t, s)
	if err := s.Apply(context.Background(), &pb.NodeData{From: d.To, To: &pb.Position{Epoch: 1, Clock: d.To.Clock + 1}}); err != nil {
		t.Fatal(err)
	}
}
