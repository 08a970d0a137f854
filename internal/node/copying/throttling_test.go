package copying

import (
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/schema/pb"
)

// TestThrottledCampaignsAreNotCopiedByOlderPrograms: a copy has the format of the store that it is
// of. A program that throttles nothing compares it with the one that it reads, before it fetches
// anything; one that throttles takes both.
func TestThrottledCampaignsAreNotCopiedByOlderPrograms(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 2)
	readByAll, _ := barrels.Versions()
	for _, throttled := range []bool{false, true} {
		clock := r.store.Position().Clock
		if throttled {
			c := proto.CloneOf(r.world.Campaigns[0])
			c.Withheld = 500_000
			clock++
			if err := r.store.Apply(t.Context(), &pb.NodeData{From: r.store.Position(), To: barreltest.At(clock), Campaigns: []*pb.Campaign{c}}); err != nil {
				t.Fatal(err)
			}
		}
		var offered uint32
		client := &tampered{CopiesClient: dial(t, serve(t, r.source())), open: func(m *pb.OpenCopyResponse, err error) (*pb.OpenCopyResponse, error) {
			offered = m.GetFormat()
			return m, err
		}}
		dir := filepath.Join(t.TempDir(), "copy")
		got := fill(t, config(dir), client)
		if (offered != readByAll) != throttled || got.Contents.Format != offered {
			t.Errorf("throttled %v: format %d is offered, %d copied; older programs read %d", throttled, offered, got.Contents.Format, readByAll)
		}
		again := openStore(t, dir)
		if at := again.Position(); at.GetClock() != clock {
			t.Errorf("the copy is at %v", at)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
