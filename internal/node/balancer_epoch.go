package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
)

// tenure is one balancer's right to decide: its epoch and a token, durable in
// the database. A balancer that finds another's there stops: two that start at
// the same moment write the same epoch, and the token tells who was last.
type tenure struct {
	db    backend.Store
	key   string
	order balance.Order
	epoch uint64
	bytes []byte
}

// take makes the next epoch this balancer's.
func takeTenure(ctx context.Context, db backend.Store, key string, order balance.Order) (*tenure, error) {
	t := &tenure{db: db, key: key, order: order}
	before, err := db.LoadControl(ctx, t.key+"/epoch")
	if err != nil {
		return nil, fmt.Errorf("load the balancer's epoch: %w", err)
	}
	t.epoch = 1
	if len(before) >= 8 {
		t.epoch = binary.BigEndian.Uint64(before) + 1
	}
	t.bytes = binary.BigEndian.AppendUint64(nil, t.epoch)
	token := make([]byte, 16)
	rand.Read(token)
	t.bytes = append(t.bytes, token...)
	if err := db.SaveControl(ctx, t.key+"/epoch", t.bytes); err != nil {
		return nil, fmt.Errorf("save the balancer's epoch: %w", err)
	}
	return t, t.check(ctx)
}

// check fails with fault.Conflict when another balancer has taken over.
func (t *tenure) check(ctx context.Context) error {
	now, err := t.db.LoadControl(ctx, t.key+"/epoch")
	if err != nil {
		return fmt.Errorf("load the balancer's epoch: %w", err)
	}
	if bytes.Equal(now, t.bytes) {
		return nil
	}
	other := uint64(0)
	if len(now) >= 8 {
		other = binary.BigEndian.Uint64(now)
	}
	return fault.Newf(fault.Conflict, "balancer",
		"another balancer with epoch %d has taken over this database (this one has epoch %d); run only one", other, t.epoch)
}

// load returns the saved model; nil: there is none. It fails with
// fault.Conflict when the model was made for another order of keys.
func (t *tenure) load(ctx context.Context) ([]byte, error) {
	b, err := t.db.LoadControl(ctx, t.key+"/model")
	if err != nil || len(b) == 0 {
		return nil, err
	}
	if order := balance.Order(b[0]); order != t.order {
		return nil, fault.Newf(fault.Conflict, "balancer",
			"the slices of this database are in the order %q; start with that order, not %q", order, t.order)
	}
	return b[1:], nil
}

// save makes a model durable, unless another balancer has taken over.
func (t *tenure) save(ctx context.Context, state []byte) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	return t.db.SaveControl(ctx, t.key+"/model", append([]byte{byte(t.order)}, state...))
}
