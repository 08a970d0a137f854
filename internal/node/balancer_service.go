package node

import (
	"context"
	"time"

	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
)

// pollMargin is left of a call's deadline when a long poll ends.
const pollMargin = 50 * time.Millisecond

// Register implements pb.BalancerServer.
func (b *Balancer) Register(_ context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	j, err := b.joining(r)
	if err != nil {
		return nil, err
	}
	err = b.step(func() error {
		if err := b.note(r); err != nil {
			return err
		}
		return b.mapper.Join(b.now(), j)
	})
	if err != nil {
		return nil, err
	}
	return &pb.RegisterResponse{Epoch: b.Epoch()}, nil
}

// joining reads a slave's announcement.
func (b *Balancer) joining(r *pb.RegisterRequest) (balance.Joining, error) {
	if r.GetName() == "" || r.GetAddress() == "" {
		return balance.Joining{}, fault.Field("balancer: register", "name", "a slave registers with its name and address")
	}
	j := balance.Joining{
		Name: r.GetName(), Address: r.GetAddress(), Position: positionOf(r.GetPosition()), Table: tableOf(r.GetSlices()),
	}
	j.Foreign = len(j.Table.Slices) > 0 && r.GetSlices().GetOrigin() != b.origin
	return j, nil
}

// Enlist implements pb.DistributorServer.
func (b *Balancer) Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error) {
	j, err := b.joining(r)
	if err != nil {
		return nil, err
	}
	newest, err := b.db.Clock(ctx)
	if err != nil {
		return nil, err
	}
	var welcome balance.Welcome
	err = b.step(func() error {
		welcome, err = b.dist.Register(j, newest)
		return err
	})
	if err != nil {
		return nil, err
	}
	if welcome.Refill {
		b.log.Warn("what the slave holds is given up and it is filled anew: it is of another database, order or plan",
			"slave", j.Name, "foreign", j.Foreign)
	}
	b.log.Info("slave registered", "slave", j.Name, "address", j.Address, "position", j.Position.String(),
		"slices", len(j.Table.Slices), "catch_up", welcome.CatchUp.String(),
		"refill", welcome.Refill)
	return &pb.EnlistResponse{Epoch: b.Epoch(), CatchUp: positionPB(welcome.CatchUp), Refill: welcome.Refill}, nil
}

// aliveTime is how long a name is taken after its slave was heard of.
const aliveTime = 3 * time.Second

// note remembers who a slave is. Two slaves of one name are refused: the later
// one, while the earlier is heard of.
func (b *Balancer) note(r *pb.RegisterRequest) error {
	n, ok := b.slaves[r.GetName()]
	if !ok {
		n = &slaveNote{}
		b.slaves[r.GetName()] = n
	}
	if ok && n.address != r.GetAddress() && n.incarnation != r.GetIncarnation() && time.Since(n.seen) < aliveTime {
		return fault.Newf(fault.Conflict, "balancer: register",
			"two slaves have the name %s: the one at %s is in service, the one at %s is refused; give it another name",
			r.GetName(), n.address, r.GetAddress())
	}
	n.address, n.incarnation, n.seen = r.GetAddress(), r.GetIncarnation(), time.Now()
	return nil
}

// Report implements pb.BalancerServer.
func (b *Balancer) Report(_ context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.slaves[r.GetName()]
	if !ok || n.incarnation != r.GetIncarnation() || r.GetEpoch() != b.Epoch() {
		return nil, fault.Newf(fault.Stale, "balancer: report", "slave %s is not registered here: register again", r.GetName())
	}
	n.seen, n.state = time.Now(), r.GetState()
	return &pb.ReportResponse{Epoch: b.Epoch()}, nil
}

// Pull implements pb.DistributorServer.
func (b *Balancer) Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error) {
	ctx, cancel := longPoll(ctx, r.GetWaitMs())
	defer cancel()
	for {
		data, changed, err := b.next(r)
		if err != nil || data != nil {
			return &pb.PullResponse{Data: data}, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &pb.PullResponse{}, nil
		}
	}
}

// next returns the bucket that is ready, or what to wait for.
func (b *Balancer) next(r *pb.PullRequest) (*pb.NodeData, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dist.Bound(r.GetName(), int(r.GetMaxBytes()))
	at := positionOf(r.GetPosition())
	bucket, err := b.dist.Pull(r.GetName(), r.GetEpoch(), at)
	if err != nil {
		return nil, nil, err
	}
	b.collect(false) // what was acknowledged makes room
	if bucket == nil {
		if bucket, err = b.dist.Pull(r.GetName(), r.GetEpoch(), at); err != nil {
			return nil, nil, err
		}
	}
	if bucket == nil {
		return nil, b.changed, nil
	}
	return b.bucketPB(bucket), nil, nil
}

// WatchMap implements pb.BalancerServer.
func (b *Balancer) WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	ctx, cancel := longPoll(ctx, r.GetWaitMs())
	defer cancel()
	for {
		b.mu.Lock()
		model, changed := b.dist.Model(), b.changed
		b.mu.Unlock()
		if model != nil && (r.GetEpoch() != b.Epoch() || r.GetView() != model.View()) {
			return b.mapPB(model), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &pb.WatchMapResponse{Epoch: b.Epoch(), View: r.GetView()}, nil
		}
	}
}

// longPoll bounds a long poll: by the time asked for and by a little less than the
// call's deadline.
func longPoll(ctx context.Context, waitMs uint32) (context.Context, context.CancelFunc) {
	wait := time.Duration(waitMs) * time.Millisecond
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)-pollMargin)
	}
	return context.WithTimeout(ctx, max(wait, 0))
}

// mapPB is the map as masters get it: the slaves that serve something.
func (b *Balancer) mapPB(m *balance.Model) *pb.WatchMapResponse {
	return &pb.WatchMapResponse{Epoch: b.Epoch(), View: m.View(), Shards: shardsOf(m)}
}

// shardsOf returns the slaves that serve something.
func shardsOf(m *balance.Model) []*pb.Shard {
	var out []*pb.Shard
	serving := make(map[balance.NodeID]bool)
	for _, s := range m.Slices() {
		serving[s.Node] = true
	}
	for _, n := range m.Nodes() {
		if serving[n.ID] {
			out = append(out, &pb.Shard{Name: n.Name, Addresses: []string{n.Address}})
		}
	}
	return out
}

// bucketPB is a bucket as slaves get it; with their slices they learn of each
// other.
func (b *Balancer) bucketPB(next *balance.Bucket[*pb.NodeData]) *pb.NodeData {
	out := &pb.NodeData{From: positionPB(next.From), To: positionPB(next.To), Reset_: next.Reset}
	if p := next.Payload; p != nil {
		out.Advertisers, out.Campaigns, out.Items, out.Deleted = p.Advertisers, p.Campaigns, p.Items, p.Deleted
	}
	if next.Table != nil {
		out.Slices = tablePB(*next.Table, b.origin)
		out.Slices.Shards = shardsOf(b.dist.Model())
	}
	return out
}

func positionOf(p *pb.Position) balance.Position {
	return balance.Position{Epoch: p.GetEpoch(), Clock: p.GetClock(), Quantum: p.GetQuantum(), Offset: p.GetOffset()}
}

func positionPB(p balance.Position) *pb.Position {
	return &pb.Position{Epoch: p.Epoch, Clock: p.Clock, Quantum: p.Quantum, Offset: p.Offset}
}

func tableOf(t *pb.SliceTable) balance.Table {
	out := balance.Table{View: t.GetView()}
	for _, s := range t.GetSlices() {
		out.Slices = append(out.Slices, balance.Held{
			ID: s.Id, Lo: balance.Key(s.Lo), Hi: balance.Key(s.Hi), Generation: s.Generation, From: s.From, Until: s.Until,
		})
	}
	return out
}

func tablePB(t balance.Table, origin string) *pb.SliceTable {
	out := &pb.SliceTable{View: t.View, Origin: origin}
	for _, s := range t.Slices {
		out.Slices = append(out.Slices, &pb.HeldSlice{
			Id: s.ID, Lo: uint64(s.Lo), Hi: uint64(s.Hi), Generation: s.Generation, From: s.From, Until: s.Until,
		})
	}
	return out
}
