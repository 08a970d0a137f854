package node

import (
	"context"
	"time"

	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
)

// Register implements pb.BalancerServer.
func (b *Balancer) Register(_ context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	j, err := joining(r, b.origin)
	if err != nil {
		return nil, err
	}
	if j.Position.Epoch > b.Epoch() {
		return nil, fault.Newf(fault.Conflict, "balancer: register",
			"slave %s has data of epoch %d, this balancer is of epoch %d: it is older, or the data belong to another database (then empty the slave's directory)",
			j.Name, j.Position.Epoch, b.Epoch())
	}
	var distributor string
	err = b.step(func() error {
		if err := b.note(r); err != nil {
			return err
		}
		if err := b.mapper.Join(b.now(), j); err != nil {
			return err
		}
		distributor, err = b.suppliers.of(j.Name, time.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	b.log.Info("slave registered", "slave", j.Name, "address", j.Address, "position", j.Position.String(),
		"slices", len(j.Table.Slices), "distributor", distributor)
	return &pb.RegisterResponse{Epoch: b.Epoch(), Distributor: distributor}, nil
}

// note remembers who a slave is. The later of two slaves of one name is
// refused while the other is heard of.
func (b *Balancer) note(r *pb.RegisterRequest) error {
	n, ok := b.slaves[r.GetName()]
	if ok && n.address != r.GetAddress() && n.incarnation != r.GetIncarnation() && time.Since(n.seen) < aliveTime {
		return fault.Newf(fault.Conflict, "balancer: register",
			"two slaves have the name %s: the one at %s is in service, the one at %s is refused; give it another name",
			r.GetName(), n.address, r.GetAddress())
	}
	if !ok {
		n = &slaveNote{}
		b.slaves[r.GetName()] = n
	}
	n.address, n.incarnation, n.seen = r.GetAddress(), r.GetIncarnation(), time.Now()
	n.position = positionOf(r.GetPosition())
	return nil
}

// Report implements pb.BalancerServer.
func (b *Balancer) Report(_ context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error) {
	reply := &pb.ReportResponse{Epoch: b.Epoch()}
	err := b.step(func() (err error) {
		n, ok := b.slaves[r.GetName()]
		if !ok || n.incarnation != r.GetIncarnation() || r.GetEpoch() != b.Epoch() {
			return fault.Newf(fault.Stale, "balancer: report", "slave %s is not registered here: register again", r.GetName())
		}
		n.seen, n.state, n.position = time.Now(), r.GetState(), positionOf(r.GetPosition())
		reply.Distributor, err = b.suppliers.of(r.GetName(), time.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// WatchMap implements pb.BalancerServer.
func (b *Balancer) WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	ctx, cancel := longPoll(ctx, r.GetWaitMs())
	defer cancel()
	for {
		b.mu.Lock()
		model, changed := b.published, b.changed
		b.mu.Unlock()
		if model != nil && (r.GetEpoch() != b.Epoch() || r.GetView() != model.View()) {
			return &pb.WatchMapResponse{Epoch: b.Epoch(), View: model.View(), Shards: shardsOf(model)}, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &pb.WatchMapResponse{Epoch: b.Epoch(), View: r.GetView()}, nil
		}
	}
}

// Quanta implements pb.BalancerServer.
func (b *Balancer) Quanta(ctx context.Context, r *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	if r.GetName() == "" {
		return nil, fault.Field("balancer: give quanta", "name", "a distributor asks with its name and address")
	}
	ctx, cancel := longPoll(ctx, r.GetWaitMs())
	defer cancel()
	reply := &pb.QuantaResponse{Epoch: b.Epoch()}
	if err := b.step(func() error { return b.supplied(r) }); err != nil {
		return nil, err
	}
	for {
		b.mu.Lock()
		reply.Quanta = b.missing(r)
		changed := b.changed
		b.mu.Unlock()
		if len(reply.Quanta) > 0 || r.GetEpoch() != b.Epoch() {
			return reply, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return reply, nil
		}
	}
}

// supplied takes what a distributor says of itself.
func (b *Balancer) supplied(r *pb.QuantaRequest) error {
	if r.GetName() == ownSupplier != (r.GetAddress() == "") {
		return fault.Field("balancer: give quanta", "name", "%q is the balancer's own distributor, and it alone needs no address", ownSupplier)
	}
	if err := b.suppliers.heard(r.GetName(), r.GetAddress(), r.GetClock(), time.Now()); err != nil {
		return err
	}
	for _, w := range r.GetWeights() {
		b.mapper.Weigh(balance.Key(w.Key), w.Weight)
	}
	return nil
}

// missing returns the quanta that a distributor lacks: those after its last, or
// the whole model when they are gone.
func (b *Balancer) missing(r *pb.QuantaRequest) []*pb.Quantum {
	if b.quanta.newest.Number == 0 {
		return nil // no plan yet
	}
	if r.GetEpoch() == b.Epoch() {
		if list, ok := b.quanta.after(r.GetNumber()); ok {
			return list
		}
	}
	q := b.quanta.newest
	q.Model = b.mapper.Model()
	return []*pb.Quantum{quantumPB(q)}
}
