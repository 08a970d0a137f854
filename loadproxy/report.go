package loadproxy

import (
	"context"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/schema/pb"
)

// reports sends the slave's state to the balancer at intervals, and at once if its table has
// changed. reported is the table that the balancer has. It returns when ctx is done or when the
// slave must register again: because the balancer does not know it, names another distributor, or
// orders it to be filled in another way.
func (p *Proxy) reports(ctx context.Context, home registration, reported *pb.SliceTable) {
	tick := time.NewTicker(p.cfg.Report)
	defer tick.Stop()
	for {
		load := true
		soon := p.soon()
		select {
		case <-ctx.Done():
			return
		case <-p.news:
			load = false
		case <-soon:
			load = false
		case <-tick.C:
		}
		table := p.store.Slices()
		r := p.report(home, table, !proto.Equal(table, reported), load)
		call, cancel := context.WithTimeout(ctx, p.cfg.CallTimeout)
		reply, err := p.balancer.Report(call, r)
		cancel()
		switch {
		case err == nil && reply.GetEpoch() == home.epoch && reply.GetDistributor() == home.distributor:
			reported = table
			p.reported.Store(time.Now().UnixNano())
			p.rechecked(reply.GetRecheck())
			if p.cfg.Copier != nil && p.replace.wanted(reply.GetCopy()) {
				return
			}
		case err == nil, !retryPull(err) && !fault.Is(err, fault.Cancelled):
			why := "it belongs to another epoch or distributor by now"
			if err != nil {
				why = err.Error()
			}
			p.log.Info("registering again", "epoch", reply.GetEpoch(), "distributor", reply.GetDistributor(), "why", why)
			return
		}
	}
}

// report returns a report, with the table if that has changed. It reads the position before the
// holds: see Hold.
func (p *Proxy) report(home registration, table *pb.SliceTable, changed, load bool) *pb.ReportRequest {
	s, stats := p.state.get(), p.store.Stats()
	r := &pb.ReportRequest{
		Name: p.cfg.Name, Incarnation: p.cfg.Incarnation, Epoch: home.epoch,
		Position: p.store.Position(), Held: p.copies.least(), Unverified: p.unverified.Load(),
		State: &pb.SlaveState{
			Serving:  s.CaughtUp,
			Groups:   stats.Groups,
			Keywords: stats.Keywords,
			Bytes:    stats.DiskBytes,
			Trouble:  shortened(s.Trouble),
			Lacking:  shortened(s.Repair),

			TroubleKind: uint32(s.TroubleKind),
		},
	}
	if p.cfg.Copier != nil {
		r.State.Copying = p.cfg.Copier.Copying()
	}
	if changed {
		r.Slices = &pb.SliceTable{Slices: table.GetSlices(), View: table.GetView(),
			Least: table.GetLeast(), Revision: table.GetRevision(), Shard: table.GetShard(), Spare: table.GetSpare(),
			Origin: table.GetOrigin(), Filled: table.GetFilled()}
	}
	if load {
		r.Load = p.store.TakeLoad()
		r.Load.Number = p.loads.Add(1)
		p.store.CountLoad(p.cfg.countEvery(r.Load))
	}
	return r
}

// maxTrouble bounds the text of a trouble in a report, in bytes.
const maxTrouble = 1 << 10

// shortened cuts a text to maxTrouble bytes.
func shortened(text string) string {
	if len(text) <= maxTrouble {
		return text
	}
	return strings.ToValidUTF8(text[:maxTrouble], "") + "…"
}

// countEvery returns n so that the cost of one search in n is measured, about Counted searches per
// second. It returns 1 if there are few searches, since then each matters and measuring is cheap,
// and 0 if Counted is 0.
func (c *Config) countEvery(l *pb.Load) (every int) {
	if c.Counted <= 0 {
		return 0
	}
	seconds := float64(max(1, l.GetIntervalMs())) / 1000
	return max(1, int(float64(l.GetQueries())/seconds/float64(c.Counted)+0.5))
}
