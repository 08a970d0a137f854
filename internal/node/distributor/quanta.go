package distributor

import (
	"adshard/internal/node/admission"
	"adshard/internal/node/health"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"context"
	"fmt"
	"time"

	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
)

const (
	// quantaWait is how long a provider's poll may wait for a quantum; quantaTime
	// is the time for a call besides.
	quantaWait = 2 * time.Second
	quantaTime = 3 * time.Second
	// aloneAfter is how long a provider waits for a mapper before changes of
	// data go on without one.
	aloneAfter = 2 * time.Second
	// quantaRetry is the pause after a failed poll.
	quantaRetry = 100 * time.Millisecond
	// forgetAfter is how long after its last pull what is ready for a slave is
	// dropped: another distributor serves it, or it is away.
	forgetAfter = 30 * time.Second
	// weightsAtOnce bounds the weights that a poll brings.
	weightsAtOnce = 1 << 14
)

// listen polls the mapper for quanta until ctx is over.
func (p *Distributor) listen(ctx context.Context) error {
	heard := time.Now()
	for ctx.Err() == nil {
		r, weights := p.question()
		p.mark(ctx, r)
		call, cancel := context.WithTimeout(ctx, quantaWait+quantaTime)
		reply, err := p.mapper.Quanta(call, r)
		cancel()
		if err != nil || reply.GetEpoch() != r.GetEpoch() {
			p.giveBack(weights) // a new mapper may not know all of these items yet
		}
		if err == nil {
			err = p.hear(reply)
		}
		if err == nil {
			heard = time.Now()
			continue
		}
		if ctx.Err() != nil {
			break
		}
		if time.Since(heard) > aloneAfter {
			p.alone(err)
		}
		if err := wait.Sleep(ctx, quantaRetry); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// question is what the mapper is asked; the weights in it are taken out. They
// wait for its first quantum: then it has seen all changes that this provider
// had.
func (p *Distributor) question() (*pb.QuantaRequest, map[balance.Key]uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &pb.QuantaRequest{Name: p.name, Address: p.address, Epoch: p.epoch, Number: p.number, Database: p.data.Database,
		WaitMs: uint32(quantaWait.Milliseconds())}
	if p.dist != nil {
		if r.Clock = p.dist.Head(); r.Clock == p.fed.Clock {
			r.Mark = p.fed.Mark
		}
	}
	weights := make(map[balance.Key]uint32)
	for k, w := range p.weights {
		if p.number == 0 || len(weights) == weightsAtOnce { // 0: the mapper may be behind
			break
		}
		weights[k] = w
		delete(p.weights, k)
		r.Weights = append(r.Weights, &pb.Weight{Key: uint64(k), Weight: w})
	}
	return r, weights
}

// mark adds the mark of the newest change that was processed, if it is not the
// newest one read, so that the balancer sees whether this provider reads the same
// history. A failure shows again when the changes are read.
func (p *Distributor) mark(ctx context.Context, r *pb.QuantaRequest) {
	if r.GetClock() == 0 || r.GetMark() != 0 {
		return
	}
	if at, err := p.db.At(ctx, r.GetClock()); err == nil {
		r.Mark = at.Mark
	}
}

// giveBack keeps weights that were not told for the next time.
func (p *Distributor) giveBack(weights map[balance.Key]uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, w := range weights {
		if _, newer := p.weights[k]; !newer {
			p.weights[k] = w
		}
	}
}

// alone lets changes of data go on under the last map.
func (p *Distributor) alone(err error) {
	_ = p.step(func() error {
		if p.dist != nil && !p.deserted {
			p.deserted = true
			p.dist.Alone(true)
			p.log.Warn("no balancer; changes go on under its last map", "balancer_epoch", p.epoch, "err", err)
		}
		return nil
	})
}

// hear takes quanta. A mapper of a later epoch gets a core of its own; slaves
// enlist again then.
func (p *Distributor) hear(reply *pb.QuantaResponse) error {
	return p.step(func() error {
		p.forget()
		switch epoch := reply.GetEpoch(); {
		case reply.GetDatabase() != p.data.Database:
			return fault.Newf(fault.Conflict, "distributor: ask for quanta",
				"the balancer plans for database %q, this distributor reads %s; change its db", reply.GetDatabase(), p.data.Database)
		case epoch < p.epoch:
			return fault.Newf(fault.Stale, "distributor: ask for quanta",
				"the balancer's epoch %d is below %d, which was heard of before", epoch, p.epoch)
		case epoch > p.epoch+admission.MaxRestarts:
			return fault.Field("distributor: ask for quanta", "epoch",
				"the balancer says that its epoch is %d, after %d; no balancer starts so often", epoch, p.epoch)
		case epoch > p.epoch:
			p.data.Timeline = reply.GetTimeline()
			p.follow(epoch)
		case p.deserted:
			p.deserted = false
			p.dist.Alone(false)
		}
		for _, q := range reply.GetQuanta() {
			if err := p.quantum(reply.GetEpoch(), q); err != nil {
				p.number = 0 // the next answer brings the whole model
				p.log.Warn("a quantum is refused; asking for the whole model", "number", q.GetNumber(), "err", err)
				return err
			}
		}
		return nil
	})
}

// follow begins to follow a mapper. Called under the lock.
func (p *Distributor) follow(epoch uint64) {
	p.log.Info("following a balancer", "balancer_epoch", epoch, "before", p.epoch, "clock", p.fed.Clock)
	p.epoch, p.number, p.made, p.deserted = epoch, 0, 0, false
	p.dist = balance.NewDistributor[*pb.NodeData](balance.DistributorConfig{
		Epoch: epoch, BucketBytes: p.cfg.BucketBytes, NodeBytes: p.cfg.NodeBytes, Ahead: p.cfg.Ahead,
	}, p.index, p.fed.Clock)
	p.clients = make(map[string]*client)
	p.health.Note(health.PrepareData, nil) // what could not be built is no longer wanted
	p.changed.Notify()
}

// quantum gives a quantum to the core. Called under the lock.
func (p *Distributor) quantum(epoch uint64, message *pb.Quantum) error {
	q, err := wire.ToQuantum(epoch, message)
	if err != nil {
		return fmt.Errorf("read quantum %d: %w", message.GetNumber(), err)
	}
	if err := p.dist.Quantum(q); err != nil {
		return err
	}
	p.number = q.Number
	return nil
}

// forget drops what is ready for slaves that do not come for it. Called under
// the lock.
func (p *Distributor) forget() {
	for name, c := range p.clients {
		if time.Since(c.seen) > forgetAfter {
			p.dist.Forget(name)
			delete(p.clients, name)
		}
	}
}
