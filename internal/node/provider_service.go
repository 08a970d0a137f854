package node

import (
	"context"
	"time"

	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
)

// joining reads a slave's announcement; origin is that of the data here.
func joining(r *pb.RegisterRequest, origin string) (balance.Joining, error) {
	if r.GetName() == "" || r.GetAddress() == "" {
		return balance.Joining{}, fault.Field("balancer: register", "name", "a slave registers with its name and address")
	}
	j := balance.Joining{
		Name: r.GetName(), Address: r.GetAddress(), Position: positionOf(r.GetPosition()), Table: tableOf(r.GetSlices()),
	}
	j.Foreign = len(j.Table.Slices) > 0 && r.GetSlices().GetOrigin() != origin
	return j, nil
}

// Enlist implements pb.DistributorServer.
func (p *provider) Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error) {
	p.mu.Lock()
	origin := p.origin
	p.mu.Unlock()
	j, err := joining(r, origin)
	if err != nil {
		return nil, err
	}
	newest, err := p.db.Newest(ctx)
	if err != nil {
		return nil, err
	}
	var reply *pb.EnlistResponse
	err = p.step(func() error {
		welcome, err := p.enlist(j, r.GetIncarnation(), newest.Clock)
		reply = &pb.EnlistResponse{Epoch: p.epoch, CatchUp: positionPB(welcome.CatchUp), Refill: welcome.Refill}
		return err
	})
	if err != nil {
		return nil, err
	}
	if reply.Refill {
		p.log.Warn("what the slave holds is given up and it is filled anew: it is of another database, order or plan",
			"slave", j.Name, "foreign", j.Foreign)
	}
	p.log.Info("slave enlisted", "slave", j.Name, "position", j.Position.String(),
		"slices", len(j.Table.Slices), "catch_up", reply.CatchUp.Clock, "refill", reply.Refill)
	return reply, nil
}

// enlist is called under the lock.
func (p *provider) enlist(j balance.Joining, incarnation string, newest uint64) (balance.Welcome, error) {
	const op = "distributor: enlist"
	if p.dist == nil {
		return balance.Welcome{}, p.unheard(op)
	}
	if j.Position.Epoch > p.epoch {
		return balance.Welcome{}, fault.Newf(fault.Unavailable, op,
			"slave %s has data of epoch %d, and the distributor %s has heard of epoch %d only; ask again after a pause",
			j.Name, j.Position.Epoch, p.name, p.epoch)
	}
	welcome, err := p.dist.Register(j, newest)
	if err == nil {
		p.clients[j.Name] = &enlisted{incarnation, time.Now()}
	}
	return welcome, err
}

// Pull implements pb.DistributorServer.
func (p *provider) Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error) {
	ctx, cancel := longPoll(ctx, r.GetWaitMs())
	defer cancel()
	for {
		data, changed, err := p.next(r)
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
func (p *provider) next(r *pb.PullRequest) (*pb.NodeData, <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dist == nil {
		return nil, nil, p.unheard("distributor: pull")
	}
	c, ok := p.clients[r.GetName()]
	if !ok || c.incarnation != r.GetIncarnation() {
		return nil, nil, fault.Newf(fault.Stale, "distributor: pull", "slave %s is not enlisted here: register again", r.GetName())
	}
	c.seen = time.Now()
	p.dist.Bound(r.GetName(), int(r.GetMaxBytes()))
	at := positionOf(r.GetPosition())
	bucket, err := p.dist.Pull(r.GetName(), r.GetEpoch(), at)
	if err != nil {
		return nil, nil, err
	}
	p.collect() // what was acknowledged makes room
	if bucket == nil {
		if bucket, err = p.dist.Pull(r.GetName(), r.GetEpoch(), at); err != nil {
			return nil, nil, err
		}
	}
	if bucket == nil {
		return nil, p.changed, nil
	}
	return p.bucketPB(bucket), nil, nil
}

// bucketPB is a bucket as slaves get it; with their slices they learn of each
// other.
func (p *provider) bucketPB(next *balance.Bucket[*pb.NodeData]) *pb.NodeData {
	out := &pb.NodeData{From: positionPB(next.From), To: positionPB(next.To), Reset_: next.Reset}
	if d := next.Payload; d != nil {
		out.Advertisers, out.Campaigns, out.Items, out.Deleted = d.Advertisers, d.Campaigns, d.Items, d.Deleted
	}
	for _, v := range next.Cleared {
		out.Cleared = append(out.Cleared, &pb.Interval{Lo: uint64(v.Lo), Hi: uint64(v.Hi)})
	}
	if next.Table != nil {
		out.Slices = tablePB(*next.Table, p.origin)
		out.Slices.Shards = shardsOf(p.dist.Model())
	}
	return out
}

// shardsOf returns the slaves that serve something in the model's view.
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

// pollMargin is left of a call's deadline when a long poll ends.
const pollMargin = 50 * time.Millisecond

// longPoll bounds a long poll: by the time asked for and by a little less than
// the call's deadline.
func longPoll(ctx context.Context, waitMs uint32) (context.Context, context.CancelFunc) {
	wait := time.Duration(waitMs) * time.Millisecond
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)-pollMargin)
	}
	return context.WithTimeout(ctx, max(wait, 0))
}
