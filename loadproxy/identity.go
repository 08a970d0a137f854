package loadproxy

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/barrels/index"
	"adshard/fault"
	"adshard/internal/wait"
	"adshard/schema/pb"
	"adshard/search/words"
)

// Three parties name their database: the balancer (the one it plans for), the distributor (the one
// whose data it sends) and the store (the one whose data it has). All three must agree, unless the
// balancer allows the store's data to be discarded.

// checkDistributor returns an error if the data of the distributor or of the store are not of the
// balancer's database.
func (p *Proxy) checkDistributor(reply *pb.EnlistResponse) error {
	const op = "slave: enlist"
	if p.home.registered && reply.GetDatabase() != p.home.database {
		return fault.Newf(fault.Conflict, op,
			"the distributor %s hands out data of database %q, the balancer plans for %q: correct the db of one of them",
			p.home.distributor, reply.GetDatabase(), p.home.database)
	}
	own := index.Database(p.store.Slices())
	if own == "" || own == reply.GetDatabase() || p.home.discard {
		return nil
	}
	return fault.Newf(fault.Conflict, op, "this slave holds data of database %s, the distributor %s hands out %q",
		own, p.home.distributor, reply.GetDatabase())
}

// checkBucket returns an error unless the bucket is of the database that the slave registered for
// and continues the slave's epoch. It also returns an error if the bucket resets the store without
// having been announced.
func (p *Proxy) checkBucket(data *pb.NodeData) error {
	const op = "slave: apply"
	if data.GetDatabase() != p.home.database {
		return fault.Newf(fault.Stale, op, "the bucket is of database %q, not of %q; registering again", data.GetDatabase(), p.home.database)
	}
	if to := data.GetTo(); to.GetEpoch() != p.epoch || !data.GetReset_() && to.GetClock() < p.store.Position().GetClock() {
		return fault.Newf(fault.Stale, op, "the bucket leads to epoch %d and clock %d, the store is at clock %d in epoch %d; registering again",
			to.GetEpoch(), to.GetClock(), p.store.Position().GetClock(), p.epoch)
	}
	if own := p.cfg.Languages; barrels.Hashed(data) && data.GetWords() != own.Version() {
		return fault.Newf(fault.Version, op, "%s", words.Differ("the distributor "+cmp.Or(p.home.distributor, "of the balancer"), data.GetWords(), "this slave", own.Version()))
	}
	if data.GetReset_() && !p.refill && len(p.store.Slices().GetSlices()) > 0 {
		return fault.Newf(fault.Stale, op, "a bucket would reset the store without having been announced; registering again")
	}
	return nil
}

// takeOver adds a mark to the store's position, if that has none: an older program has written it.
func (p *Proxy) takeOver(ctx context.Context, mark uint64) error {
	at := p.store.Position()
	if mark == 0 || at.GetMark() != 0 || at.GetClock() == 0 {
		return nil
	}
	to := proto.CloneOf(at)
	to.Mark = mark
	return p.write(ctx, &pb.NodeData{From: at, To: to})
}

// rebase moves the store to another position in the log of the database, since the log does not
// have its own position. Slices that equal the database's are kept; the others become residue and
// are filled again. The slave serves nothing until it has registered with the result.
func (p *Proxy) rebase(ctx context.Context, d Distributor, reply *pb.EnlistResponse) error {
	p.settled = false // the next Enlist returns the position to reach
	p.state.change(func(s *State) {
		s.CaughtUp, s.Unverified = false, true
		p.store.SetCaughtUp(false)
	})
	table := proto.CloneOf(p.store.Slices())
	p.log.Warn("the store's position is not in the log of the database; comparing its data", "slices", len(table.GetSlices()))
	ctx, leave := context.WithCancel(ctx)
	var signs sync.WaitGroup
	defer signs.Wait()
	defer leave()
	announced := p.request(proto.CloneOf(table)) // the store's table changes below
	signs.Go(func() { defer leave(); p.announce(ctx, p.home, announced) })
	next := &pb.SliceTable{Origin: table.GetOrigin()}
	kept := 0
	for _, h := range table.GetSlices() {
		if h.GetState() == pb.HeldState_HELD_STATE_FULL {
			equal, err := p.equal(ctx, d, reply, h)
			if err != nil {
				return err
			}
			if !equal {
				h.State = pb.HeldState_HELD_STATE_RESIDUE
			} else {
				kept++
			}
		} else {
			h.State = pb.HeldState_HELD_STATE_RESIDUE
		}
		h.From, h.Until = 0, 0
		next.Slices = append(next.Slices, h)
	}
	p.log.Warn("the store continues from another position", "slices", len(next.Slices), "kept", kept, "clock", reply.GetCatchUp().GetClock())
	return p.write(ctx, &pb.NodeData{From: p.store.Position(), To: reply.GetCatchUp(), Slices: next})
}

// announceEvery is the time between two registrations while a slave compares its data.
const announceEvery = 5 * time.Second

// announce repeats a registration, so that a slave is not taken for lost while it compares a large
// store and sends no reports. It returns when ctx is done or the registration has changed.
func (p *Proxy) announce(ctx context.Context, home registration, r *pb.RegisterRequest) {
	for wait.Sleep(ctx, announceEvery) == nil {
		call, cancel := context.WithTimeout(ctx, p.cfg.CallTimeout)
		reply, err := p.balancer.Register(call, r)
		cancel()
		if err != nil {
			continue // comparing needs only the distributor
		}
		if reply.GetEpoch() != home.epoch || reply.GetDistributor() != home.distributor ||
			reply.GetDatabase() != home.database || reply.GetTimeline() != home.timeline {
			return
		}
	}
}

// partsOf is the number of parts into which an interval is split if comparing it took too long.
const partsOf = 8

// equal reports whether a slice of the store equals the database's. A damaged slice does not. A
// slice too large to be compared at once is compared in parts.
func (p *Proxy) equal(ctx context.Context, d Distributor, reply *pb.EnlistResponse, h *pb.HeldSlice) (bool, error) {
	lo, width := h.GetLo(), h.GetHi()-h.GetLo()
	for {
		hi := lo + min(width, h.GetHi()-lo)
		equal, err := p.equalPart(ctx, d, reply, h, lo, hi)
		switch {
		case fault.Is(err, fault.Deadline) && hi > lo && ctx.Err() == nil:
			width = (hi - lo) / partsOf
			p.log.Warn("a comparison took too long; comparing less at a time", "slice", h.GetId(), "err", err)
		case err != nil || !equal || hi == h.GetHi():
			return equal, err
		default:
			lo = hi + 1
		}
	}
}

// equalPart reports whether the slice equals the database for the keys from lo to hi.
func (p *Proxy) equalPart(ctx context.Context, d Distributor, reply *pb.EnlistResponse, h *pb.HeldSlice, lo, hi uint64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.VerifyTimeout)
	defer cancel()
	own, err := p.store.Certify(ctx, lo, hi, ^uint64(0), nil)
	if fault.Is(err, fault.Corrupt) {
		p.log.Error("a slice is damaged", "slice", h.GetId(), "err", err)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	verdict, err := d.Verify(ctx, &pb.VerifyRequest{Name: p.cfg.Name, Incarnation: p.cfg.Incarnation, Epoch: reply.GetEpoch(),
		Database: reply.GetDatabase(), Lo: lo, Hi: hi, Certificate: own.Message()})
	if err != nil {
		return false, fmt.Errorf("compare slice %d from %x to %x with the database: %w", h.GetId(), lo, hi, err)
	}
	return verdict.GetEqual(), nil
}

// write applies a bucket that the slave itself has made.
func (p *Proxy) write(ctx context.Context, data *pb.NodeData) error {
	done := p.upkeep.stepAside()
	err := p.store.Apply(ctx, data)
	done(err == nil)
	if err != nil && fault.Is(err, fault.Corrupt) {
		p.repairs.recreate(err.Error())
	}
	return err
}
