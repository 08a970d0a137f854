package balancer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/admission"
	"adshard/internal/node/feed"
	"adshard/internal/node/identity"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

// These bound how often the balancer starts over because of a report. Slaves and masters of a restored
// database may each report a later epoch, and all of them must get through. A stranger must not keep the
// balancer from working.
const (
	restartBurst = 8
	restartEvery = 30 * time.Second
)

// errSucceeded is what Run returns when another balancer is to take this one's place.
var errSucceeded = errors.New("another balancer starts in this one's place")

// checkSlave checks that the changes which a slave has applied are part of this balancer's history. If
// they are not, the database was restored meanwhile, and earlier views and tables are void: the balancer
// starts over with a new timeline and an epoch above all reported ones, and the slave registers again. It
// returns how the slave's position relates to the log.
func (b *Balancer) checkSlave(ctx context.Context, r *pb.RegisterRequest, j balance.Joining) (h identity.History, err error) {
	own := r.GetSlices().GetTimeline() == b.data.Timeline
	if j.Foreign {
		return identity.Same, nil
	}
	if err := b.checkEpoch(ctx, "slave "+j.Name, j.Position.Epoch, own); err != nil {
		return identity.Same, err
	}
	if h, _, err = identity.Locate(ctx, b.db, r.GetPosition()); err != nil || !own {
		return h, err
	}
	b.mu.Lock()
	model := b.mapper.Model()
	b.mu.Unlock()
	if model == nil {
		return h, nil
	}
	if _, known := model.Slave(j.Name); !known {
		return h, nil
	}
	if j.Table.View > model.View() {
		return h, b.succeedOnReport(ctx, j.Position.Epoch, true, fmt.Sprintf("slave %s reports view %d, the newest here is %d", j.Name, j.Table.View, model.View()))
	}
	if h == identity.Other {
		err = b.succeedOnReport(ctx, j.Position.Epoch, true, fmt.Sprintf("slave %s applied another change at clock %d", j.Name, j.Position.Clock))
	}
	return h, err
}

// checkMaster makes sure in the same way that no master has a later map of this database. It refuses a
// master with a map of another database. Errors: fault.Conflict.
func (b *Balancer) checkMaster(ctx context.Context, r *pb.WatchMapRequest) error {
	switch r.GetDatabase() {
	case "": // the master has no map yet
		return nil
	case b.data.Database:
	default:
		return fault.Newf(fault.Conflict, "balancer: give the map",
			"master %s serves database %s, the balancer's is %s; to change to the balancer's, restart the master", r.GetMaster(), r.GetDatabase(), b.data.Database)
	}
	return b.checkEpoch(ctx, "master "+r.GetMaster(), r.GetEpoch(), r.GetTimeline() == b.data.Timeline)
}

// checkEpoch checks that the balancer's epoch is above the one that a slave or master reports. Within the
// same timeline the two may be equal.
func (b *Balancer) checkEpoch(ctx context.Context, who string, epoch uint64, own bool) error {
	switch {
	case epoch < b.Epoch() || own && epoch == b.Epoch():
		return nil
	case epoch > b.Epoch()+admission.MaxRestarts:
		return fault.Newf(fault.Conflict, "balancer", "%s reports epoch %d, which no balancer of this database has had; this is epoch %d",
			who, epoch, b.Epoch())
	}
	return b.succeedOnReport(ctx, epoch, own, fmt.Sprintf("%s reports epoch %d, this is epoch %d", who, epoch, b.Epoch()))
}

// succeedOnReport starts the succession because of a report by a slave or master. Reports may lie, so
// their rate is limited. Errors: those of the succession, and fault.Unavailable above that rate.
func (b *Balancer) succeedOnReport(ctx context.Context, epoch uint64, timeline bool, why string) error {
	if !b.succession.isOver() && !b.restarts.Allow() {
		return fault.Newf(fault.Unavailable, "balancer", "%s; the balancer has started over too often in the last minutes; ask again in a minute", why)
	}
	return b.succession.succeed(ctx, epoch, timeline, why)
}

// follow follows the changes of the database. If its log does not continue from this balancer's position,
// another balancer starts from the log as it is now.
func (b *Balancer) follow(ctx context.Context) error {
	err := b.feed.Run(ctx, b.takeChanges)
	switch {
	case fault.Is(err, fault.Conflict):
		return b.succeedOnFeedEnd(ctx, true, err)
	case fault.Is(err, fault.Stale):
		return b.succeedOnFeedEnd(ctx, false, err)
	}
	return err
}

// succeedOnFeedEnd starts the succession that the state of the database requires. It tries again until
// the succession can be saved.
func (b *Balancer) succeedOnFeedEnd(ctx context.Context, timeline bool, why error) error {
	for {
		err := b.succession.succeed(ctx, b.Epoch(), timeline, why.Error())
		if b.succession.isOver() {
			return nil // Run ends without this error
		}
		if fault.Is(err, fault.Conflict) {
			return err
		}
		if err := wait.Sleep(ctx, feed.RetryAfter); err != nil {
			return err
		}
	}
}
