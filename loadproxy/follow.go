package loadproxy

import (
	"context"
	"fmt"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

// follow pulls and applies buckets until an error or the end of ctx.
func (p *Proxy) follow(ctx context.Context, d Distributor, epoch uint64) error {
	lastReply := time.Now()
	p.behind.begin()
	for ctx.Err() == nil {
		data, err := p.pull(ctx, d, epoch)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if !retryPull(err) || time.Since(lastReply) > p.cfg.Away {
				return err
			}
			p.failed(ctx, err)
			continue
		}
		lastReply = time.Now()
		p.healthy(data)
		if data == nil {
			p.settle()
			continue
		}
		if err := p.apply(ctx, d, epoch, data); err != nil {
			if fault.Is(err, fault.Stale) || fault.Is(err, fault.Corrupt) {
				return err
			}
			if ctx.Err() != nil {
				return nil // the session is to end
			}
			p.failed(ctx, err)
		}
	}
	return nil
}

// retryPull reports whether the slave may still be enlisted after a pull failed with err.
func retryPull(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Deadline, fault.Overloaded:
		return true
	}
	return false
}

func (p *Proxy) pull(ctx context.Context, d Distributor, epoch uint64) (*pb.NodeData, error) {
	call, cancel := context.WithTimeout(ctx, p.cfg.Wait+p.cfg.CallTimeout)
	defer cancel()
	at := p.store.Position()
	known := p.behind.pulling(at.GetClock())
	wait := p.cfg.Wait
	if p.pollsOften() {
		wait = min(wait, recheckPoll)
	}
	reply, err := d.Pull(call, &pb.PullRequest{Name: p.cfg.Name, Epoch: epoch, Position: at,
		MaxBytes: p.cfg.MaxBytes, WaitMs: uint32(wait.Milliseconds()), Incarnation: p.cfg.Incarnation,
		Database: p.home.database, Newest: known})
	p.behind.pulled(err == nil && reply.GetHead(), reply.GetNewest())
	if err != nil {
		return nil, fmt.Errorf("pull from the distributor: %w", err)
	}
	return reply.GetData(), nil
}

// apply applies a bucket to the store while upkeep pauses.
func (p *Proxy) apply(ctx context.Context, d Distributor, epoch uint64, data *pb.NodeData) error {
	if err := p.checkBucket(data); err != nil {
		return err
	}
	parts, err := p.fetch(ctx, d, epoch, data)
	if err != nil {
		return err
	}
	defer parts.close()
	done := p.upkeep.stepAside()
	err = p.store.ApplyParts(ctx, data, parts.read)
	done(err == nil)
	if err != nil {
		if fault.Is(err, fault.Corrupt) {
			p.repairs.recreate(err.Error())
		}
		return fmt.Errorf("apply node data: %w", err)
	}
	if data.GetReset_() {
		p.refill = false
	}
	p.pauses.Reset()
	p.complaint.Tell(nil)
	p.state.change(func(s *State) {
		s.Trouble = ""
		s.Buckets++
		s.Items += uint64(len(data.GetItems()) + len(data.GetDeleted()))
	})
	p.settle()
	if data.GetSlices() != nil {
		p.heal(false)
		select {
		case p.news <- struct{}{}:
		default:
		}
	}
	return nil
}

// healthy resets the pauses and the trouble after a pull that succeeded. If it returned a bucket,
// the trouble stays until the bucket is applied.
func (p *Proxy) healthy(data *pb.NodeData) {
	if data == nil {
		p.pauses.Reset()
		p.complaint.Tell(nil)
		p.state.change(func(s *State) { s.Trouble = "" })
		p.idle++
		p.heal(p.idle >= idlePulls && time.Since(time.Unix(0, p.reported.Load())) < 3*p.cfg.Report)
		return
	}
	p.idle = 0
}
