package revise

import (
	"context"
	"crypto/rand"

	"adshard/backend"
	"adshard/fault"
)

// erasuresKey is the control key that changes with each erasure of counts.
const erasuresKey = "erasures"

// Erasures returns a value for Plan.Erasures. Call it before reading the counts of a plan: if any
// of the counts are erased later, the value changes.
func Erasures(ctx context.Context, db backend.Store) ([]byte, error) {
	was, err := db.LoadControl(ctx, erasuresKey)
	if err != nil || was != nil {
		return was, err
	}
	// A transaction cannot expect a missing key.
	if err := db.SaveControlIf(ctx, erasuresKey, []byte("none"), erasuresKey, nil); err != nil && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	return db.LoadControl(ctx, erasuresKey)
}

// Unlearn takes back what was learned about an advertiser. Its counts must have been erased before.
// Afterwards, no plan with Erasures whose counts were read earlier writes anything. What such a
// plan has already written is taken back too. If Unlearn returns an error, it must be repeated.
func Unlearn(ctx context.Context, db backend.Store, advertiser uint64) (Result, error) {
	if err := patiently(ctx, func() error { return db.SaveControl(ctx, erasuresKey, []byte(rand.Text())) }); err != nil {
		return Result{}, err
	}
	p, err := Given(ctx, db, advertiser)
	if err != nil {
		return Result{}, err
	}
	return p.Write(ctx, db, nil)
}
