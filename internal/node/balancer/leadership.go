package balancer

import (
	"context"
	"crypto/rand"
	"time"

	"google.golang.org/grpc"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/node/identity"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// leadership is a balancer's term and saves the balancer's state. Each save is conditional on the
// term's epoch, so a balancer that was replaced can no longer change anything.
type leadership struct {
	control.Term
	order balance.Order
}

// answerTime bounds the call to a balancer that may still be running.
const answerTime = time.Second

// isRunning reports whether a balancer of this epoch answers at an address. `reach` has the options
// to dial it.
func isRunning(ctx context.Context, address string, epoch uint64, reach []grpc.DialOption) bool {
	conn, err := wire.Dial(address, reach...)
	if err != nil {
		return false
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	reply, err := pb.NewBalancerClient(conn).WatchMap(ctx, &pb.WatchMapRequest{})
	return err == nil && reply.GetEpoch() == epoch
}

// takeAlone begins a term for the only balancer of a cluster. Errors: fault.Conflict if the
// previous balancer still answers, or if another one was faster.
func takeAlone(ctx context.Context, store control.Store, me control.Candidate, reach ...grpc.DialOption) (control.Term, error) {
	before, err := store.Leader(ctx)
	if err != nil {
		return nil, err
	}
	if at := before.Address; at != "" && at != me.Address && isRunning(ctx, at, before.Epoch, reach) {
		return nil, fault.Newf(fault.Conflict, "balancer",
			"the balancer with epoch %d at %s is running on this database; stop it first, or use another state_key", before.Epoch, at)
	}
	return store.TakeOver(ctx, me)
}

// timelineKey is the key of the timeline.
const timelineKey = "/timeline"

// timeline returns the timeline of the saved model. Without a saved model, it starts a new
// timeline.
func (t *leadership) timeline(ctx context.Context, planned bool) (string, error) {
	if !planned {
		fresh := rand.Text()
		return fresh, t.Save(ctx, timelineKey, []byte(fresh))
	}
	b, err := t.Load(ctx, timelineKey)
	return string(b), err
}

// model returns the saved model, or nil if there is none. Errors: fault.Conflict if the model was
// made for another order of keys.
func (t *leadership) model(ctx context.Context) ([]byte, error) {
	b, err := t.Load(ctx, identity.ModelKey)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	if order := balance.Order(b[0]); order != t.order {
		return nil, fault.Newf(fault.Conflict, "balancer",
			"the slices of this cluster are now in the order %s, and were in the order %s when this balancer started; restart it", order, t.order)
	}
	return b[1:], nil
}

// saveModel makes a model durable.
func (t *leadership) saveModel(ctx context.Context, state []byte) error {
	return t.Save(ctx, identity.ModelKey, append([]byte{byte(t.order)}, state...))
}
