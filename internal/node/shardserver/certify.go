package shardserver

import (
	"context"
	"time"

	"adshard/barrels"
	"adshard/barrels/index"
	"adshard/fault"
	"adshard/schema/pb"
)

// clockPoll is the time between two checks of the clock for which a certificate waits.
const clockPoll = 5 * time.Millisecond

// Certify implements pb.SlaveServer. It waits for the clock that the certificate needs.
// Certificates are computed one at a time, so that processors stay free for searches. Errors:
// fault.Deadline if waiting takes too long.
func (s *Server) Certify(ctx context.Context, m *pb.CertifyRequest) (_ *pb.CertifyResponse, err error) {
	defer fault.Recover("slave: certify", &err, s.panicked)
	if own := index.Database(s.store.Slices()); m.GetDatabase() != own {
		return nil, fault.Newf(fault.Conflict, "slave: certify", "this slave holds data of database %q, not of %q", own, m.GetDatabase())
	}
	if err := s.reach(ctx, m.GetClock()); err != nil {
		return nil, err
	}
	select {
	case s.sums <- struct{}{}:
		defer func() { <-s.sums }()
	case <-ctx.Done():
		return nil, fault.Newf(fault.Deadline, "slave: certify", "timed out waiting for another certificate: %w", ctx.Err())
	}
	parents := make([]barrels.Parent, len(m.GetParents()))
	for i, p := range m.GetParents() {
		parents[i] = barrels.Parent{Campaign: p.GetKind() == barrels.KindCampaign, ID: p.GetId()}
	}
	began := time.Now()
	c, err := s.store.Certify(ctx, m.GetLo(), m.GetHi(), m.GetBins(), parents)
	if err != nil {
		return nil, err
	}
	if !c.Held {
		return nil, fault.Newf(fault.Unavailable, "slave: certify", "this slave does not hold all of %x to %x", m.GetLo(), m.GetHi())
	}
	reply := c.Message()
	reply.TookMicros = uint64(time.Since(began).Microseconds())
	return reply, nil
}

// reach waits until the store has applied all changes up to a clock.
func (s *Server) reach(ctx context.Context, clock uint64) error {
	tick := time.NewTicker(clockPoll)
	defer tick.Stop()
	for s.store.Position().GetClock() < clock {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fault.Newf(fault.Deadline, "slave: certify", "at clock %d, need %d: %w",
				s.store.Position().GetClock(), clock, ctx.Err())
		}
	}
	return nil
}

// Discard implements pb.SlaveServer. It returns when the slice is queued to be discarded, not when
// it has been discarded.
func (s *Server) Discard(_ context.Context, m *pb.DiscardRequest) (*pb.DiscardResponse, error) {
	if m.GetIncarnation() != s.identity.Incarnation {
		return nil, fault.Newf(fault.Conflict, "slave: discard", "only the balancer that this slave is registered with may order it to discard")
	}
	for _, h := range s.store.Slices().GetSlices() {
		if h.Lo == m.GetLo() && h.Hi == m.GetHi() && h.Generation == m.GetGeneration() && h.State == pb.HeldState_HELD_STATE_FULL {
			s.upkeep.Discard(h.Lo, h.Hi, m.GetReason())
			return &pb.DiscardResponse{}, nil
		}
	}
	return nil, fault.Newf(fault.Stale, "slave: discard", "the slice from %x to %x is not held as generation %d", m.GetLo(), m.GetHi(), m.GetGeneration())
}

// Adopt implements pb.SlaveServer.
func (s *Server) Adopt(_ context.Context, m *pb.AdoptRequest) (*pb.AdoptResponse, error) {
	name, err := s.adopt(m.GetBalancer())
	if err != nil {
		return nil, err
	}
	return &pb.AdoptResponse{Name: name}, nil
}
