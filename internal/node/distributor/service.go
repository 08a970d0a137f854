package distributor

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/fault"
	"adshard/internal/node/identity"
	"adshard/internal/node/slicemap"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Enlist implements pb.DistributorServer.
func (d *Distributor) Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error) {
	d.mu.Lock()
	data, epoch, fed, unheard := d.data, d.epoch, d.fed, d.machine == nil
	d.mu.Unlock()
	if unheard {
		return nil, d.noBalancer("distributor: enlist")
	}
	j, err := data.Joining(r, r.GetDiscard())
	if err != nil {
		return nil, err
	}
	h, mark, err := identity.Locate(ctx, d.db, r.GetPosition())
	if err != nil {
		return nil, err
	}
	if h != identity.Same && !j.Foreign {
		d.log.Warn("the slave's position is not in the log of this database; comparing its data with the database",
			"slave", j.Name, "position", j.Position.String())
		return &pb.EnlistResponse{Epoch: epoch, Database: data.Database, Verify: true,
			CatchUp: &pb.Position{Clock: fed.Clock, Mark: fed.Mark}}, nil // without an epoch, since no quantum of this timeline has arrived
	}
	if r.GetSlices().GetTimeline() != data.Timeline {
		j.Table = identity.Unserved(j.Table)
	}
	reply, again, err := d.enlist(ctx, r, j, mark)
	if err != nil {
		return nil, err
	}
	if reply.Refill {
		d.log.Warn("the slave's data are discarded and it is filled again: they are of another database, order or plan",
			"slave", j.Name, "foreign", j.Foreign)
	}
	level := slog.LevelInfo
	if again {
		level = slog.LevelDebug // it was logged before
	}
	d.log.Log(ctx, level, "slave enlisted", "slave", j.Name, "position", j.Position.String(),
		"slices", len(j.Table.Slices), "catch_up", reply.CatchUp.Clock, "refill", reply.Refill)
	return reply, nil
}

// enlist registers a slave with the state machine. `mark` is the mark of the slave's position;
// `again` reports whether the slave had enlisted before.
func (d *Distributor) enlist(ctx context.Context, r *pb.RegisterRequest, j balance.Joining, mark uint64) (reply *pb.EnlistResponse, again bool, err error) {
	const op = "distributor: enlist"
	newest, err := d.db.Newest(ctx)
	if err != nil {
		return nil, false, err
	}
	err = d.step(func() error {
		if d.machine == nil {
			return d.noBalancer(op)
		}
		if err := d.admit(op, j.Name, r.GetSlices()); err != nil {
			return err
		}
		if j.Position.Epoch > d.epoch && !j.Foreign {
			return fault.Newf(fault.Unavailable, op,
				"slave %s has data of epoch %d, and the distributor %s has reached a balancer of epoch %d only; ask again after a pause",
				j.Name, j.Position.Epoch, d.name, d.epoch)
		}
		welcome, err := d.machine.Register(j, newest.Clock)
		if err != nil {
			return err
		}
		if welcome.Refill {
			mark = r.GetPosition().GetMark() // this may be of another history: it only says where the slave is
		}
		before, known := d.slaves[j.Name]
		again = known && before.incarnation == r.GetIncarnation()
		d.slaves[j.Name] = &slave{incarnation: r.GetIncarnation(), seen: time.Now(), at: marked{j.Position, mark},
			slices: len(j.Table.Slices)}
		reply = &pb.EnlistResponse{Epoch: d.epoch, CatchUp: wire.FromPosition(welcome.CatchUp), Refill: welcome.Refill,
			Database: d.data.Database, Mark: mark}
		return nil
	})
	return reply, again, err
}

// Pull implements pb.DistributorServer.
func (d *Distributor) Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error) {
	poll, cancel := wire.LongPoll(ctx, r.GetWaitMs())
	defer cancel()
	for head := false; ; {
		next, changed, err := d.next(r)
		if err == nil {
			err = d.understands(wire.PeerVersion(ctx), wire.PeerWords(ctx, d.cfg.Languages), r.GetName(), next.GetData())
		}
		if next.GetData() != nil && err == nil {
			err = d.stamp(ctx, r, next.Data) // even if the time to wait is over
		}
		if err != nil {
			return nil, err
		}
		if next.Data != nil {
			next.Head = head
			return next, nil
		}
		if head = next.Head; !head && r.GetNewest() <= r.GetPosition().GetClock() {
			return next, nil // with an empty answer the slave would believe that it has everything
		}
		select {
		case <-changed:
		case <-poll.Done():
			return next, nil
		}
	}
}

// next returns the bucket that is ready. If none is, the answer has no data, and the channel closes
// when there may be one. Its Head then tells whether the slave has all changes that were processed.
func (d *Distributor) next(r *pb.PullRequest) (*pb.PullResponse, <-chan struct{}, error) {
	const op = "distributor: pull"
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.machine == nil {
		return nil, nil, d.noBalancer(op)
	}
	c, ok := d.slaves[r.GetName()]
	if !ok || c.incarnation != r.GetIncarnation() {
		return nil, nil, fault.Newf(fault.Stale, op, "slave %s is not enlisted here: register again", r.GetName())
	}
	if r.GetDatabase() != d.data.Database {
		return nil, nil, fault.Newf(fault.Conflict, op,
			"slave %s asks for data of database %q, this distributor's is %s: correct the db of the distributor or of the slave's balancer",
			r.GetName(), r.GetDatabase(), d.data.Database)
	}
	c.seen = time.Now()
	at := wire.ToPosition(r.GetPosition())
	if c.to.position == at {
		c.at = c.to
	}
	if c.at != (marked{at, r.GetPosition().GetMark()}) {
		return nil, nil, fault.Newf(fault.Stale, op, "slave %s is at %s with another change there than the distributor has recorded: register again", r.GetName(), at)
	}
	d.machine.Bound(r.GetName(), int(r.GetMaxBytes()))
	if r.GetNewest() > 0 {
		d.machine.Defer(r.GetName())
	}
	bucket, err := d.machine.Pull(r.GetName(), r.GetEpoch(), at)
	if err != nil {
		return nil, nil, err
	}
	d.collect() // the bucket acknowledged by the slave makes room
	if bucket == nil {
		if bucket, err = d.machine.Pull(r.GetName(), r.GetEpoch(), at); err != nil {
			return nil, nil, err
		}
	}
	out := &pb.PullResponse{Newest: d.fed.Clock}
	if bucket == nil {
		out.Head = !d.machine.Deferred(r.GetName())
		return out, d.changed.Next(), nil
	}
	out.Data = d.bucketPB(bucket)
	return out, nil, nil
}

// Part implements pb.DistributorServer.
func (d *Distributor) Part(_ context.Context, r *pb.PartRequest) (*pb.PartResponse, error) {
	raw, err := d.part(r)
	if err != nil {
		return nil, err
	}
	reply := new(pb.PartResponse)
	if err := proto.Unmarshal(raw, reply); err != nil {
		return nil, fault.New(fault.Internal, "distributor: part", err)
	}
	return reply, nil
}

// part returns an encoded part of a group in the bucket at the slave's position. Errors:
// fault.Stale if that bucket is no longer kept; the slave must pull again.
func (d *Distributor) part(r *pb.PartRequest) ([]byte, error) {
	const op = "distributor: part"
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.machine == nil {
		return nil, d.noBalancer(op)
	}
	c, ok := d.slaves[r.GetName()]
	if !ok || c.incarnation != r.GetIncarnation() {
		return nil, fault.Newf(fault.Stale, op, "slave %s is not enlisted here: register again", r.GetName())
	}
	c.seen = time.Now()
	bucket, err := d.machine.Pull(r.GetName(), r.GetEpoch(), wire.ToPosition(r.GetPosition()))
	if err != nil {
		return nil, err
	}
	if bucket != nil && bucket.Payload != nil {
		if raw, ok := bucket.Payload.part(r.GetKey(), r.GetVersion(), r.GetPart()); ok {
			return raw, nil
		}
	}
	return nil, fault.Newf(fault.Stale, op, "the bucket of slave %s at %s has no part %d of version %d of the group with key %x: register again",
		r.GetName(), wire.ToPosition(r.GetPosition()), r.GetPart(), r.GetVersion(), r.GetKey())
}

// stamp writes into a bucket the marks of the changes at both ends: the mark of the slave's
// position, and the mark that the log has at the position after the bucket.
func (d *Distributor) stamp(ctx context.Context, r *pb.PullRequest, data *pb.NodeData) error {
	to, err := d.db.At(ctx, data.GetTo().GetClock())
	if err != nil {
		return err
	}
	if err := d.sameHistory(ctx); err != nil {
		return err
	}
	data.From, data.To.Mark = r.GetPosition(), to.Mark
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.slaves[r.GetName()]; ok && c.incarnation == r.GetIncarnation() {
		c.to = marked{wire.ToPosition(data.To), to.Mark}
	}
	return nil
}

// sameHistory returns an error if the database no longer has the history that the state machine has
// followed: it may have been replaced by a restored copy.
func (d *Distributor) sameHistory(ctx context.Context) error {
	d.mu.Lock()
	known := []backend.Position{d.fed, d.built}
	d.mu.Unlock()
	for _, at := range known {
		now, err := d.db.At(ctx, at.Clock)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err != nil || now.Mark != at.Mark {
			return fault.Newf(fault.Unavailable, "distributor: pull", "the database was restored; all items are being read again, ask again after a pause")
		}
	}
	return nil
}

// bucketPB converts a bucket into a message. If the bucket has the slave's slices, the message also
// has the shards of the map, which slaves pass on to masters that reach no balancer.
func (d *Distributor) bucketPB(next *delivery.Bucket[*nodeData]) *pb.NodeData {
	out := &pb.NodeData{To: wire.FromPosition(next.To), Reset_: next.Reset, Database: d.data.Database}
	if data := next.Payload; data != nil {
		out.Advertisers, out.Campaigns, out.Items, out.Deleted = data.Advertisers, data.Campaigns, data.Items, data.Deleted
		out.Builder, out.Words = data.Builder, data.Words
	}
	for _, v := range next.Cleared {
		out.Cleared = append(out.Cleared, &pb.Interval{Lo: uint64(v.Lo), Hi: uint64(v.Hi)})
	}
	if next.Table != nil {
		out.Slices = d.data.Table(*next.Table)
		model := d.machine.Model()
		if out.Slices.Shards = slicemap.Shards(model); out.Slices.View != model.View() {
			for _, s := range out.Slices.Shards { // their widths are of another view
				s.WidthHi, s.WidthLo = 0, 0
			}
		}
	}
	return out
}
