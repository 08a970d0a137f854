package loadproxy

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

// TestPartsArriveBeforeTheBucketIsApplied tests that keywords in parts are applied in
// order, each once, even if some calls fail.
func TestPartsArriveBeforeTheBucketIsApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newBalancer(2), newStore()
		b.parts, b.loseParts = 5, 3
		run(t, s, b)
		time.Sleep(10 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.keys) != 2 || s.position.GetClock() != 2 || len(s.parts) != 10 {
			t.Fatalf("groups %v with %d keywords at %v", s.keys, len(s.parts), s.position)
		}
		for i, k := range s.parts {
			if k.Id != uint64(i%5)+1 {
				t.Errorf("keyword %d is %v", i, k)
			}
		}
	})
}

// TestASpoolLeavesNothing tests that a spool leaves no file when it is closed, and none
// if it cannot be made.
func TestASpoolLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	it := &pb.Item{Group: &pb.Group{Id: 7, Key: 9}, Parts: 2}
	s := &spool{at: make(map[place]extent)}
	defer s.close()
	for part := range uint32(2) {
		if err := s.write(dir, place{9, part}, &pb.PartResponse{Keywords: []*pb.Keyword{{Id: uint64(part) + 10, Text: "usb"}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []uint32{1, 0, 1} {
		if list, err := s.read(it, part); err != nil || len(list) != 1 || list[0].Id != uint64(part)+10 || list[0].Text != "usb" {
			t.Errorf("part %d: %v, %v", part, list, err)
		}
	}
	if _, err := s.read(it, 2); !fault.Is(err, fault.Internal) {
		t.Errorf("a part that is missing: %v", err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	none := &spool{at: make(map[place]extent)}
	if err := none.write(filepath.Join(dir, "none"), place{9, 0}, new(pb.PartResponse)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no directory: %v", err)
	}
}
