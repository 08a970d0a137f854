package identity

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/nodetest"
	"adshard/schema/pb"
)

// TestOneNameForADatabase: programs that start at the same time with a new database agree on its name.
func TestOneNameForADatabase(t *testing.T) {
	db := nodetest.NewDatabase(t).DB
	names := make([]string, 8)
	group, ctx := errgroup.WithContext(t.Context())
	for i := range names {
		group.Go(func() error {
			d, err := Of(ctx, db, balance.ByOwner)
			names[i] = d.Database
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(slices.Compact(names)) != 1 || names[0] == "" {
		t.Errorf("%q", names)
	}
}

// TestDataInAnotherOrderAreNotEmptied: slaves with data of the database are emptied neither by a new cluster with the default order nor by
// one with a wrong order, unless that is requested.
func TestDataInAnotherOrderAreNotEmptied(t *testing.T) {
	d := Dataset{Database: "d", Order: balance.ByHash}
	r := &pb.RegisterRequest{Name: "slave-0", Address: "127.0.0.1:1", Position: &pb.Position{}, Slices: &pb.SliceTable{
		Origin: "d/advertiser", Slices: []*pb.HeldSlice{{Id: 1, Hi: 1<<64 - 1, State: pb.HeldState_HELD_STATE_FULL}},
	}}
	if _, err := d.Joining(r, false); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "--order advertiser") {
		t.Errorf("without discarding: %v", err)
	}
	if j, err := d.Joining(r, true); err != nil || !j.Foreign {
		t.Errorf("discarding: %+v, %v", j, err)
	}
}
