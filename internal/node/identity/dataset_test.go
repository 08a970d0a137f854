package identity

import (
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"adshard/balance"
	"adshard/internal/node/nodetest"
)

// TestOneNameForADatabase: programs that start on a new database at the same
// time agree on its name.
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
