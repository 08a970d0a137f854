package revise

import (
	"context"
	"crypto/rand"

	"adshard/backend"
	"adshard/fault"
)

// erasuresKey is the control key whose value changes with each erasure of what was counted.
const erasuresKey = "erasures"

// Erasures returns a value for Plan.Erasures. It is called before the counts of a plan are read: if
// any of them are erased later, the value is another one.
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

// Unlearn takes back what was learned of an advertiser whose counts were erased before. No plan with
// Erasures whose counts were read before that writes anything afterwards: what it has written already is
// seen here, and taken back, too. After an error it is done again.
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
