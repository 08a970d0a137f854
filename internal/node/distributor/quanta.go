package distributor

import (
	"context"
	"fmt"
	"time"

	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/fault"
	"adshard/internal/node/admission"
	"adshard/internal/node/health"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

const (
	// quantaWait is how long a poll may wait for a quantum; quantaTime is the time
	// allowed for the call itself.
	quantaWait = 2 * time.Second
	quantaTime = 3 * time.Second
	// aloneAfter is how long a distributor waits for a balancer before it hands out changes of data
	// without one.
	aloneAfter = 2 * time.Second
	// quantaRetry is the pause after a failed poll.
	quantaRetry = 100 * time.Millisecond
	// forgetAfter is how long after a slave's last pull its buckets are dropped: by then another
	// distributor serves it, or it is away.
	forgetAfter = 30 * time.Second
	// weightsAtOnce bounds the number of weights in one poll.
	weightsAtOnce = 1 << 14
)

// poll asks the balancer for quanta until ctx is done.
func (d *Distributor) poll(ctx context.Context) error {
	lastReply := time.Now()
	for ctx.Err() == nil {
		err := d.ask(ctx)
		if err == nil {
			lastReply = time.Now()
			continue
		}
		if ctx.Err() != nil {
			break
		}
		if time.Since(lastReply) > aloneAfter {
			d.continueWithoutBalancer(err)
		}
		if err := wait.Sleep(ctx, quantaRetry); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// ask makes one poll.
func (d *Distributor) ask(ctx context.Context) error {
	r, weights := d.request()
	d.addMark(ctx, r)
	call, cancel := context.WithTimeout(ctx, quantaWait+quantaTime)
	reply, err := d.balancer.Quanta(call, r)
	cancel()
	if err != nil || reply.GetEpoch() != r.GetEpoch() {
		d.returnWeights(weights) // a new balancer may not have all of these items yet
	}
	if err == nil {
		err = d.receive(reply)
	}
	d.noteRefusal(err)
	return err
}

// noteRefusal records whether the balancer refuses this distributor, or this one refuses the balancer's
// answer: waiting does not help then. If the balancer is away, it leaves the record as it is.
func (d *Distributor) noteRefusal(err error) {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Deadline, fault.Cancelled, fault.Overloaded, fault.Behind:
		if err != nil {
			return
		}
	}
	d.health.Record(health.Follow, err)
}

// request returns the next poll and the weights in it, which are removed from d.weights. It includes no
// weights before the balancer's first quantum: by then the balancer has seen all changes that this
// distributor had.
func (d *Distributor) request() (*pb.QuantaRequest, map[balance.Key]uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &pb.QuantaRequest{Name: d.name, Address: d.address, Epoch: d.epoch, Number: d.number, Database: d.data.Database,
		Order: d.data.Order.String(), WaitMs: uint32(quantaWait.Milliseconds())}
	if d.machine != nil {
		if r.Clock = d.machine.Head(); r.Clock == d.fed.Clock {
			r.Mark = d.fed.Mark
		}
	}
	weights := make(map[balance.Key]uint32)
	for k, w := range d.weights {
		if d.number == 0 || len(weights) == weightsAtOnce { // with number 0 the balancer may lag
			break
		}
		weights[k] = w
		delete(d.weights, k)
		r.Weights = append(r.Weights, &pb.Weight{Key: uint64(k), Weight: w})
	}
	return r, weights
}

// addMark adds the mark of the newest processed change, unless that is the newest change read, whose
// mark is known. The mark shows the balancer whether this distributor reads the same history. A failure
// shows again when changes are read.
func (d *Distributor) addMark(ctx context.Context, r *pb.QuantaRequest) {
	if r.GetClock() == 0 || r.GetMark() != 0 {
		return
	}
	if at, err := d.db.At(ctx, r.GetClock()); err == nil {
		r.Mark = at.Mark
	}
}

// returnWeights puts back the weights of a poll that was not delivered.
func (d *Distributor) returnWeights(weights map[balance.Key]uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k, w := range weights {
		if _, newer := d.weights[k]; !newer {
			d.weights[k] = w
		}
	}
}

// continueWithoutBalancer lets data changes continue under the last slice map.
func (d *Distributor) continueWithoutBalancer(err error) {
	_ = d.step(func() error {
		if d.machine != nil && !d.alone {
			d.alone = true
			d.machine.Alone(true)
			d.log.Warn("no balancer answers; changes continue under the last slice map", "balancer_epoch", d.epoch, "err", err)
		}
		return nil
	})
}

// receive applies quanta. A balancer of a later epoch gets a new state machine, and slaves must enlist
// again.
func (d *Distributor) receive(reply *pb.QuantaResponse) error {
	return d.step(func() error {
		d.dropIdle()
		switch epoch := reply.GetEpoch(); {
		case reply.GetDatabase() != d.data.Database:
			return fault.Newf(fault.Conflict, "distributor: ask for quanta",
				"the balancer plans for database %q, this distributor reads %s; change its db", reply.GetDatabase(), d.data.Database)
		case epoch < d.epoch:
			return fault.Newf(fault.Stale, "distributor: ask for quanta",
				"the balancer's epoch %d is below %d, which an earlier balancer had", epoch, d.epoch)
		case epoch > d.epoch+admission.MaxRestarts:
			return fault.Field("distributor: ask for quanta", "epoch",
				"the balancer says that its epoch is %d, after %d; no balancer starts so often", epoch, d.epoch)
		case epoch > d.epoch:
			d.data.Timeline = reply.GetTimeline()
			d.follow(epoch)
		case d.alone:
			d.alone = false
			d.machine.Alone(false)
		}
		for _, q := range reply.GetQuanta() {
			if err := d.quantum(reply.GetEpoch(), q); err != nil {
				d.number = 0 // the next answer brings the whole model
				d.log.Warn("a quantum is refused; asking for the whole model", "number", q.GetNumber(), "err", err)
				return err
			}
		}
		return nil
	})
}

// follow starts to follow the balancer of an epoch. The caller holds the lock.
func (d *Distributor) follow(epoch uint64) {
	d.log.Info("following a balancer", "balancer_epoch", epoch, "before", d.epoch, "clock", d.fed.Clock)
	d.epoch, d.number, d.made, d.alone = epoch, 0, 0, false
	d.machine = delivery.New[*nodeData](delivery.Config{
		Epoch: epoch, BucketBytes: d.cfg.BucketBytes, NodeBytes: d.cfg.NodeBytes, Ahead: d.cfg.Ahead,
	}, d.index, d.fed.Clock)
	d.slaves = make(map[string]*slave)
	d.health.Record(health.PrepareData, nil) // data that could not be built is no longer wanted
	d.changed.Notify()
}

// quantum applies a quantum. The caller holds the lock.
func (d *Distributor) quantum(epoch uint64, message *pb.Quantum) error {
	q, err := wire.ToQuantum(epoch, message)
	if err != nil {
		return fmt.Errorf("read quantum %d: %w", message.GetNumber(), err)
	}
	if err := d.machine.Quantum(q); err != nil {
		return err
	}
	d.number = q.Number
	return nil
}

// dropIdle drops the buckets of slaves that no longer pull them. The caller holds the lock.
func (d *Distributor) dropIdle() {
	for name, c := range d.slaves {
		if time.Since(c.seen) > forgetAfter {
			d.machine.Forget(name)
			delete(d.slaves, name)
		}
	}
}
