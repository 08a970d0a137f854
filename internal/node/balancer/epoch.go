package balancer

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/identity"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// tenure is one balancer's right to decide: its epoch and address, durable in
// the database. Each save is conditional on them, in one transaction, so that a
// balancer that was replaced changes nothing any more.
type tenure struct {
	db    backend.Store
	key   string
	order balance.Order
	epoch uint64
	saved atomic.Pointer[[]byte] // the epoch, big-endian, then the address
}

// answerTime bounds the call to a balancer that may still be running.
const answerTime = time.Second

// takeTenure takes the next epoch for this balancer, whose address is address.
// Errors: fault.Conflict if the balancer before it still answers, or if another one
// was faster.
func takeTenure(ctx context.Context, db backend.Store, key, address string, order balance.Order) (*tenure, error) {
	t := &tenure{db: db, key: key, order: order}
	before, err := db.LoadControl(ctx, t.guard())
	if err != nil {
		return nil, fmt.Errorf("load the balancer's epoch: %w", err)
	}
	epoch, at := tenureOf(before)
	if at != "" && at != address && isRunning(ctx, at, epoch) {
		return nil, fault.Newf(fault.Conflict, "balancer",
			"the balancer with epoch %d at %s is running on this database; stop it first, or use another state_key", epoch, at)
	}
	t.epoch = epoch + 1
	saved := append(binary.BigEndian.AppendUint64(nil, t.epoch), address...)
	t.saved.Store(&saved)
	if err := db.SaveControlIf(ctx, t.guard(), saved, t.guard(), before); err != nil {
		return nil, fmt.Errorf("save the balancer's epoch: %w", err)
	}
	return t, nil
}

// timelineKey is the key of the timeline, below the tenure's.
const timelineKey = "/timeline"

// timeline returns the timeline of the saved model. A balancer without a saved
// model starts a new one.
func (t *tenure) timeline(ctx context.Context, planned bool) (string, error) {
	if !planned {
		fresh := rand.Text()
		return fresh, t.save(ctx, timelineKey, []byte(fresh))
	}
	b, err := t.db.LoadControl(ctx, t.key+timelineKey)
	return string(b), err
}

// raise makes the next tenure's epoch higher than one that a slave or master reported.
func (t *tenure) raise(ctx context.Context, epoch uint64) error {
	saved := *t.saved.Load()
	next := append(binary.BigEndian.AppendUint64(nil, max(epoch, t.epoch)), saved[8:]...)
	err := t.db.SaveControlIf(ctx, t.guard(), next, t.guard(), saved)
	if err == nil {
		t.saved.Store(&next)
	}
	return t.replaced(ctx, err)
}

func (t *tenure) guard() string { return t.key + "/epoch" }

// tenureOf decodes a saved tenure; nil is epoch 0. The address is "" if what was
// saved is not an address: earlier versions saved something else.
func tenureOf(b []byte) (epoch uint64, address string) {
	if len(b) < 8 {
		return 0, ""
	}
	address = string(b[8:])
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = ""
	}
	return binary.BigEndian.Uint64(b), address
}

// isRunning reports whether a balancer of this epoch answers at an address.
func isRunning(ctx context.Context, address string, epoch uint64) bool {
	conn, err := wire.Dial(address)
	if err != nil {
		return false
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	reply, err := pb.NewBalancerClient(conn).WatchMap(ctx, &pb.WatchMapRequest{})
	return err == nil && reply.GetEpoch() == epoch
}

// check fails with fault.Conflict when another balancer has taken over, and with
// fault.Stale when the database was restored to a time before this one.
func (t *tenure) check(ctx context.Context) error {
	now, err := t.db.LoadControl(ctx, t.guard())
	if err != nil {
		return fmt.Errorf("load the balancer's epoch: %w", err)
	}
	if bytes.Equal(now, *t.saved.Load()) {
		return nil
	}
	epoch, address := tenureOf(now)
	if epoch < t.epoch {
		return fault.Newf(fault.Stale, "balancer", "the database has epoch %d, this balancer's is %d: it was restored", epoch, t.epoch)
	}
	return fault.Newf(fault.Conflict, "balancer",
		"another balancer with epoch %d at %s has taken over this database (this one has epoch %d); run only one",
		epoch, address, t.epoch)
}

// load returns the saved model; nil: there is none. It fails with
// fault.Conflict when the model was made for another order of keys.
func (t *tenure) load(ctx context.Context) ([]byte, error) {
	b, err := t.db.LoadControl(ctx, t.key+identity.ModelKey)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	if order := balance.Order(b[0]); order != t.order {
		return nil, fault.Newf(fault.Conflict, "balancer",
			"the slices of this cluster are now in the order %s, and were in the order %s when this balancer started; restart it", order, t.order)
	}
	return b[1:], nil
}

// saveModel makes a model durable. Errors: fault.Conflict if another balancer has
// taken over.
func (t *tenure) saveModel(ctx context.Context, state []byte) error {
	return t.save(ctx, identity.ModelKey, append([]byte{byte(t.order)}, state...))
}

// save makes a value durable under a key, under the same condition.
func (t *tenure) save(ctx context.Context, key string, value []byte) error {
	return t.replaced(ctx, t.db.SaveControlIf(ctx, t.key+key, value, t.guard(), *t.saved.Load()))
}

// replaced explains the conflict of a save that failed because another balancer has
// taken over.
func (t *tenure) replaced(ctx context.Context, err error) error {
	if fault.Is(err, fault.Conflict) {
		if why := t.check(ctx); why != nil {
			return why
		}
	}
	return err
}
