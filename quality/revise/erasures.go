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
// of them are erased later, the value changes.
func Erasures(ctx context.Context, db backend.Store) ([]byte, error) {
	was, err := db.LoadControl(ctx, erasuresKey)
	if err != nil || was != nil {
		return was, err
	}
	// A key that is missing cannot be expected by a transaction.
	if err := db.SaveControlIf(ctx, erasuresKey, []byte("none"), erasuresKey, nil); err != nil && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	return db.LoadControl(ctx, erasuresKey)
}

// Unlearn takes back what was learned of an advertiser whose counts were erased before. After it,
// no plan with Erasures whose counts were read earlier writes anything. What such a plan has
// written already is taken back too. After an error it must be repeated.
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
