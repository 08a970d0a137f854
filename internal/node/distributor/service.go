package distributor

import (
	"context"
	"log/slog"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/identity"
	"adshard/internal/node/slicemap"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Enlist implements pb.DistributorServer.
func (p *Distributor) Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error) {
	p.mu.Lock()
	data, epoch, fed, unheard := p.data, p.epoch, p.fed, p.dist == nil
	p.mu.Unlock()
	if unheard {
		return nil, p.unheard("distributor: enlist")
	}
	j, err := data.Joining(r, r.GetDiscard())
	if err != nil {
		return nil, err
	}
	h, mark, err := identity.Locate(ctx, p.db, r.GetPosition())
	if err != nil {
		return nil, err
	}
	if h != identity.Same && !j.Foreign {
		p.log.Warn("the slave's position is not in the log of this database; what it holds is compared",
			"slave", j.Name, "position", j.Position.String())
		return &pb.EnlistResponse{Epoch: epoch, Database: data.Database, Verify: true,
			CatchUp: &pb.Position{Clock: fed.Clock, Mark: fed.Mark}}, nil // of no epoch: no quantum of this timeline is in
	}
	if r.GetSlices().GetTimeline() != data.Timeline {
		j.Table = identity.Unserved(j.Table)
	}
	reply, again, err := p.enlist(ctx, r, j, mark)
	if err != nil {
		return nil, err
	}
	if reply.Refill {
		p.log.Warn("what the slave holds is given up and it is filled anew: it is of another database, order or plan",
			"slave", j.Name, "foreign", j.Foreign)
	}
	level := slog.LevelInfo
	if again {
		level = slog.LevelDebug // it says again what was logged
	}
	p.log.Log(ctx, level, "slave enlisted", "slave", j.Name, "position", j.Position.String(),
		"slices", len(j.Table.Slices), "catch_up", reply.CatchUp.Clock, "refill", reply.Refill)
	return reply, nil
}

// enlist registers a slave with the core. mark is the mark of its position; again
// reports whether it was enlisted before.
func (p *Distributor) enlist(ctx context.Context, r *pb.RegisterRequest, j balance.Joining, mark uint64) (reply *pb.EnlistResponse, again bool, err error) {
	const op = "distributor: enlist"
	newest, err := p.db.Newest(ctx)
	if err != nil {
		return nil, false, err
	}
	err = p.step(func() error {
		if p.dist == nil {
			return p.unheard(op)
		}
		if err := p.room(op, j.Name, r.GetSlices()); err != nil {
			return err
		}
		if j.Position.Epoch > p.epoch && !j.Foreign {
			return fault.Newf(fault.Unavailable, op,
				"slave %s has data of epoch %d, and the distributor %s has heard of epoch %d only; ask again after a pause",
				j.Name, j.Position.Epoch, p.name, p.epoch)
		}
		welcome, err := p.dist.Register(j, newest.Clock)
		if err != nil {
			return err
		}
		if welcome.Refill {
			mark = r.GetPosition().GetMark() // of another history, maybe: it only says where the slave is
		}
		before, known := p.clients[j.Name]
		again = known && before.incarnation == r.GetIncarnation()
		p.clients[j.Name] = &client{incarnation: r.GetIncarnation(), seen: time.Now(), at: marked{j.Position, mark},
			held: len(j.Table.Slices)}
		reply = &pb.EnlistResponse{Epoch: p.epoch, CatchUp: wire.FromPosition(welcome.CatchUp), Refill: welcome.Refill,
			Database: p.data.Database, Mark: mark}
		return nil
	})
	return reply, again, err
}

// Pull implements pb.DistributorServer.
func (p *Distributor) Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error) {
	ctx, cancel := wire.LongPoll(ctx, r.GetWaitMs())
	defer cancel()
	for {
		data, changed, err := p.next(r)
		if data != nil {
			err = p.stamp(ctx, r, data)
		}
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
func (p *Distributor) next(r *pb.PullRequest) (*pb.NodeData, <-chan struct{}, error) {
	const op = "distributor: pull"
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dist == nil {
		return nil, nil, p.unheard(op)
	}
	c, ok := p.clients[r.GetName()]
	if !ok || c.incarnation != r.GetIncarnation() {
		return nil, nil, fault.Newf(fault.Stale, op, "slave %s is not enlisted here: register again", r.GetName())
	}
	if r.GetDatabase() != p.data.Database {
		return nil, nil, fault.Newf(fault.Conflict, op,
			"slave %s asks for data of database %q, this distributor's is %s: correct the db of the distributor or of the slave's balancer",
			r.GetName(), r.GetDatabase(), p.data.Database)
	}
	c.seen = time.Now()
	at := wire.ToPosition(r.GetPosition())
	if c.to.position == at {
		c.at = c.to
	}
	if c.at != (marked{at, r.GetPosition().GetMark()}) {
		return nil, nil, fault.Newf(fault.Stale, op, "slave %s is at %s with another change there than it was given: register again", r.GetName(), at)
	}
	p.dist.Bound(r.GetName(), int(r.GetMaxBytes()))
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
		return nil, p.changed.Next(), nil
	}
	return p.bucketPB(bucket), nil, nil
}

// stamp puts the marks of the changes at both ends into a bucket: where the slave
// is, and that of the log where it leads.
func (p *Distributor) stamp(ctx context.Context, r *pb.PullRequest, data *pb.NodeData) error {
	to, err := p.db.At(ctx, data.GetTo().GetClock())
	if err != nil {
		return err
	}
	if err := p.continues(ctx); err != nil {
		return err
	}
	data.From, data.To.Mark = r.GetPosition(), to.Mark
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.clients[r.GetName()]; ok && c.incarnation == r.GetIncarnation() {
		c.to = marked{wire.ToPosition(data.To), to.Mark}
	}
	return nil
}

// continues makes sure that the database is still of the history that the core has
// followed: a restored copy may have come in its place since.
func (p *Distributor) continues(ctx context.Context) error {
	p.mu.Lock()
	known := []backend.Position{p.fed, p.built}
	p.mu.Unlock()
	for _, at := range known {
		now, err := p.db.At(ctx, at.Clock)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err != nil || now.Mark != at.Mark {
			return fault.Newf(fault.Unavailable, "distributor: pull", "the database was restored; all items are being read again, ask again after a pause")
		}
	}
	return nil
}

// bucketPB is a bucket as slaves get it; with their slices they learn of each
// other.
func (p *Distributor) bucketPB(next *balance.Bucket[*pb.NodeData]) *pb.NodeData {
	out := &pb.NodeData{To: wire.FromPosition(next.To), Reset_: next.Reset, Database: p.data.Database}
	if d := next.Payload; d != nil {
		out.Advertisers, out.Campaigns, out.Items, out.Deleted = d.Advertisers, d.Campaigns, d.Items, d.Deleted
		out.Builder = d.Builder
	}
	for _, v := range next.Cleared {
		out.Cleared = append(out.Cleared, &pb.Interval{Lo: uint64(v.Lo), Hi: uint64(v.Hi)})
	}
	if next.Table != nil {
		out.Slices = p.data.Table(*next.Table)
		model := p.dist.Model()
		if out.Slices.Shards = slicemap.Shards(model); out.Slices.View != model.View() {
			for _, s := range out.Slices.Shards { // the widths are of another view
				s.WidthHi, s.WidthLo = 0, 0
			}
		}
	}
	return out
}
