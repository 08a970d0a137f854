package balancer

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
	"adshard/balance/maps"
	"adshard/barrels/index"
	"adshard/fault"
	"adshard/internal/node/identity"
	"adshard/internal/node/slicemap"
	"adshard/internal/node/wire"
	"adshard/internal/shell"
	"adshard/schema/pb"
)

// Register implements pb.BalancerServer.
func (b *Balancer) Register(ctx context.Context, r *pb.RegisterRequest) (_ *pb.RegisterResponse, err error) {
	defer func() { b.refusals.Record(r, err, time.Now()) }()
	own := index.Database(r.GetSlices())
	j, err := b.data.Joining(r, slices.Contains(b.cfg.DiscardDataOf, own))
	if err != nil {
		return nil, err
	}
	if err := b.checkName(ctx, r); err != nil {
		return nil, err
	}
	h, err := b.checkSlave(ctx, r, j)
	if err != nil {
		return nil, err
	}
	var distributor string
	var order *pb.CopyOrder
	var recheck *pb.Recheck
	level := slog.LevelInfo
	err = b.step(func() error {
		if err := b.admit("balancer: register", r.GetName(), r.GetSlices()); err != nil {
			return err
		}
		n, noted := b.slaves[r.GetName()]
		if noted && n.incarnation == r.GetIncarnation() {
			level = slog.LevelDebug // it was logged before
		}
		if err := b.noteSlave(r, wire.PeerWords(ctx, b.cfg.Languages)); err != nil {
			return err
		}
		if b.mapper.Model() != nil && r.GetSlices().GetTimeline() != b.data.Timeline {
			j.Table = identity.Unserved(j.Table)
		}
		if err := b.mapper.Join(b.now(), j); err != nil {
			if !noted {
				delete(b.slaves, j.Name)
			}
			return err
		}
		order, recheck = b.copyOrder(j.Name), b.recheck(j.Name)
		distributor, err = b.distributorFor(j.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.log.Log(ctx, level, "slave registered", "slave", j.Name, "address", j.Address, "position", j.Position.String(),
		"slices", len(j.Table.Slices), "distributor", distributor)
	return &pb.RegisterResponse{
		Epoch: b.Epoch(), Distributor: distributor, Database: b.data.Database, Timeline: b.data.Timeline,
		Discard: j.Foreign, Verify: h != identity.Same && !j.Foreign, Copy: order, Recheck: recheck,
	}, nil
}

// noteSlave records a slave's address and incarnation. A slave is refused if another one with the
// same name still reports from another address: a process never changes its address.
func (b *Balancer) noteSlave(r *pb.RegisterRequest, words string) error {
	n, ok := b.slaves[r.GetName()]
	if ok && n.address != r.GetAddress() && time.Since(n.seen) < aliveTime {
		return fault.Newf(fault.Conflict, "balancer: register",
			"two slaves have the name %s: the one at %s is in service, the one at %s is refused; give it another name",
			r.GetName(), n.address, r.GetAddress())
	}
	if !ok {
		n = &slaveInfo{}
		b.slaves[r.GetName()] = n
	}
	if n.incarnation != r.GetIncarnation() {
		why := copied(b.slaves, b.mapper.Model(), r.GetName(), r.GetInstance())
		n.copy = why != ""
		if n.copy {
			b.log.Warn("a slave's directory is a copy", "slave", r.GetName(), "address", r.GetAddress(), "why", why)
		}
		n.state = nil // what the process before it reported is over: it does not serve until it says so
	}
	n.address, n.incarnation, n.instance, n.words, n.seen = r.GetAddress(), r.GetIncarnation(), r.GetInstance(), words, time.Now()
	n.position, n.held, n.slices = wire.ToPosition(r.GetPosition()), r.GetHeld(), len(r.GetSlices().GetSlices())
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
		if r.GetPosition().GetEpoch() > b.Epoch() {
			return fault.Field("balancer: report", "position", "slave %s reports epoch %d, this is epoch %d", r.GetName(), r.GetPosition().GetEpoch(), b.Epoch())
		}
		if err := b.admit("balancer: report", r.GetName(), r.GetSlices()); err != nil {
			return err
		}
		n.seen, n.state, n.position, n.held = time.Now(), r.GetState(), wire.ToPosition(r.GetPosition()), r.GetHeld()
		if r.GetSlices() != nil {
			n.slices = len(r.GetSlices().GetSlices())
		}
		if err := b.mapper.Report(b.now(), slaveReport(r)); err != nil {
			return err
		}
		reply.Copy, reply.Recheck = b.copyOrder(r.GetName()), b.recheck(r.GetName())
		reply.Distributor, err = b.distributorFor(r.GetName())
		return err
	})
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// copyOrder returns the order for a slave to copy a store, with the siblings to copy it from, or
// nil if there is no order. The caller holds the lock.
func (b *Balancer) copyOrder(slave string) *pb.CopyOrder {
	shard, siblings := b.mapper.CopyFrom(b.now(), slave)
	if len(siblings) == 0 {
		return nil
	}
	out := &pb.CopyOrder{Shard: shard}
	for _, s := range siblings {
		out.Siblings = append(out.Siblings, &pb.Replica{Name: s.Name, Address: s.Address, Zone: s.Zone, Instance: s.Instance})
	}
	return out
}

// recheck returns the progress of the comparison of a slave's data after its store was not closed
// properly, or nil if no comparison is under way. The caller holds the lock.
func (b *Balancer) recheck(slave string) *pb.Recheck {
	r := b.mapper.Recheck(slave)
	if r == nil {
		return nil
	}
	return &pb.Recheck{Slices: uint32(r.Slices), Compared: uint32(r.Compared)}
}

// slaveReport converts a report into the mapper's form.
func slaveReport(r *pb.ReportRequest) mapper.SlaveReport {
	out := mapper.SlaveReport{
		Name: r.GetName(), Incarnation: r.GetIncarnation(), Position: wire.ToPosition(r.GetPosition()),
		Trouble: r.GetState().GetTrouble(), Bytes: r.GetState().GetBytes(), Load: wire.ToLoad(r.GetIncarnation(), r.GetLoad()), Unverified: r.GetUnverified(),
	}
	if c := r.GetState().GetCopying(); c != nil {
		out.Copying = &cluster.CopyState{Source: c.GetSource(), Bytes: c.GetBytes(), Total: c.GetTotal(), PerSecond: c.GetPerSecond()}
	}
	if r.GetSlices() != nil {
		t := wire.ToTable(r.GetSlices())
		out.Table = &t
	}
	return out
}

// WatchMap implements pb.BalancerServer. A master acknowledges its view when it begins to wait and
// again when it stops waiting, since it uses the view all the while. It waits for at most half its
// lease, so that the lease of a master that keeps calling never ends.
func (b *Balancer) WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	if err := b.checkMaster(ctx, r); err != nil {
		return nil, err
	}
	ctx, cancel := wire.LongPoll(ctx, min(r.GetWaitMs(), uint32(b.cfg.MasterLease.Milliseconds()/2)))
	defer cancel()
	if err := b.noteMaster(r); err != nil {
		return nil, err
	}
	b.recordMasterReport(r)
	defer func() { _ = b.noteMaster(r) }()
	have := maps.Version{Epoch: r.GetEpoch(), View: r.GetView(), Revision: r.GetRevision(), Filled: r.GetFilled()}
	for {
		b.mu.Lock()
		model, changed := b.mapper.MapFor(have), b.changed.Next()
		filled := model != nil && b.mapper.Model().Filled()
		b.mu.Unlock()
		if model != nil {
			return &pb.WatchMapResponse{Epoch: b.Epoch(), View: model.View(), Revision: model.Revision(), Shards: slicemap.Shards(model),
				Database: b.data.Database, Timeline: b.data.Timeline, Filled: filled}, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &pb.WatchMapResponse{Epoch: b.Epoch(), View: r.GetView(), Revision: r.GetRevision()}, nil
		}
	}
}

// noteMaster reports a master's view to the mapper. A map of another balancer is reported as no
// map. Errors: fault.Overloaded if there are too many masters.
func (b *Balancer) noteMaster(r *pb.WatchMapRequest) error {
	if r.GetMaster() == "" {
		return nil
	}
	return b.step(func() error {
		view, revision := r.GetView(), r.GetRevision()
		if m := b.mapper.Model(); m == nil || view > m.View() || r.GetTimeline() != b.data.Timeline {
			view, revision = 0, 0
		}
		return b.mapper.Master(b.now(), r.GetMaster(), view, revision)
	})
}

// Quanta implements pb.BalancerServer.
func (b *Balancer) Quanta(ctx context.Context, r *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	if r.GetName() == "" {
		return nil, fault.Field("balancer: give quanta", "name", "a distributor asks with its name and address")
	}
	if err := b.checkTrust(ctx, r); err != nil {
		return nil, err
	}
	if err := b.checkDatabase(ctx, r); err != nil {
		return nil, err
	}
	ctx, cancel := wire.LongPoll(ctx, r.GetWaitMs())
	defer cancel()
	reply := &pb.QuantaResponse{Epoch: b.Epoch(), Database: b.data.Database, Timeline: b.data.Timeline}
	if err := b.step(func() error { return b.noteDistributor(r, wire.PeerWords(ctx, b.cfg.Languages)) }); err != nil {
		return nil, err
	}
	for {
		b.mu.Lock()
		reply.Quanta = b.missing(r)
		changed := b.changed.Next()
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

// checkDatabase refuses a distributor that reads another database or another history of this one,
// or that uses another order of keys. Errors: fault.Conflict.
func (b *Balancer) checkDatabase(ctx context.Context, r *pb.QuantaRequest) error {
	const op = "balancer: give quanta"
	if r.GetDatabase() != b.data.Database {
		return fault.Newf(fault.Conflict, op, "the distributor %s reads database %q, the balancer's is %s; change its db",
			r.GetName(), r.GetDatabase(), b.data.Database)
	}
	if o := r.GetOrder(); o != b.order.String() {
		return fault.Newf(fault.Conflict, op, "the distributor %s has the order %s, the cluster %s; start it with order: %s",
			r.GetName(), o, b.order, b.order)
	}
	h, _, err := identity.Locate(ctx, b.db, &pb.Position{Clock: r.GetClock(), Mark: r.GetMark()})
	if err == nil && h == identity.Other {
		err = fault.Newf(fault.Conflict, op, "the distributor %s reads another copy of database %s, with another change at clock %d; change its db",
			r.GetName(), b.data.Database, r.GetClock())
	}
	return err
}

// noteDistributor records the report of a distributor.
func (b *Balancer) noteDistributor(r *pb.QuantaRequest, words string) error {
	if r.GetName() == ownDistributor != (r.GetAddress() == "") {
		return fault.Field("balancer: give quanta", "name", "%q is the balancer's own distributor, and it alone needs no address", ownDistributor)
	}
	if err := b.distributors.record(r.GetName(), r.GetAddress(), words, r.GetClock(), time.Now()); err != nil {
		return err
	}
	b.mapper.Floor(r.GetClock())
	for _, w := range r.GetWeights() {
		b.mapper.Weigh(balance.Key(w.Key), w.Weight)
	}
	return nil
}

// missing returns the quanta that a distributor lacks: those after its last one, or the whole model
// if they are no longer kept.
func (b *Balancer) missing(r *pb.QuantaRequest) []*pb.Quantum {
	if r.GetEpoch() == b.Epoch() {
		if list, ok := b.quanta.after(r.GetNumber()); ok {
			return list
		}
	}
	if q, ok := b.mapper.Reinit(); ok {
		return []*pb.Quantum{wire.FromQuantum(q)}
	}
	return nil // no plan yet
}

// copied returns why a slave's directory is taken for a copy of another slave's: both have the same instance. It returns ""
// if it is not. m is the model, or nil if there is none.
func copied(slaves map[string]*slaveInfo, m *balance.Model, name string, instance uint64) string {
	if instance == 0 {
		return ""
	}
	of := ""
	for other, n := range slaves {
		if other != name && n.instance == instance && !n.copy { // the original is no copy of its copy
			of = max(of, other)
		}
	}
	if m != nil && of == "" {
		for _, s := range m.Slaves() {
			if n := slaves[s.Name]; s.Name != name && s.Instance == instance && (n == nil || !n.copy) {
				of = s.Name
			}
		}
	}
	if of == "" {
		return ""
	}
	return fmt.Sprintf("its `dir` is a copy of that of %s: stop it, empty its `dir` and start it again; or, if %s was renamed, `adshard slaves remove %s`", of, of, shell.Word(of))
}
